use super::*;
use proptest::prelude::*;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

type Asking = Pin<Box<dyn Future<Output = Permit>>>;

fn to(n: usize) -> Arc<Endpoint> {
    Arc::new(Endpoint { host: format!("h{n}").into(), port: 80, any_host: false })
}

fn ask(sockets: &Arc<OpenSockets>, host: usize) -> Asking {
    let (sockets, to) = (Arc::clone(sockets), to(host));
    Box::pin(async move { sockets.permit(&to).await })
}

fn poll(asking: &mut Asking) -> Option<Permit> {
    match asking.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(permit) => Some(permit),
        Poll::Pending => None,
    }
}

/// Somebody with one idle socket.
#[derive(Debug, Default)]
struct Kept(Mutex<Option<Permit>>);

impl KeepIdle for Kept {
    fn idle(&self) -> usize {
        usize::from(self.0.lock().unwrap().is_some())
    }

    fn give_back(&self, of: Option<&Arc<Endpoint>>) -> bool {
        let kept = self.0.lock().unwrap().take_if(|permit| of.is_none_or(|of| permit.to == *of));
        kept.is_some()
    }
}

#[test]
fn room_goes_to_who_waited_longest() {
    let sockets = OpenSockets::new(1, 1);
    let first = poll(&mut ask(&sockets, 1)).unwrap();
    let (mut second, mut third) = (ask(&sockets, 2), ask(&sockets, 3));
    assert!(poll(&mut second).is_none() && poll(&mut third).is_none());
    drop(first);
    assert!(poll(&mut third).is_none());
    let second = poll(&mut second).unwrap();
    assert_eq!(sockets.counts(), ConnectionCounts { open: 1, idle: 0, closing: 0, waiting: 1 });
    drop(second);
    assert!(poll(&mut third).is_some());
}

#[test]
fn an_idle_socket_is_given_back_to_who_needs_one() {
    let (sockets, kept) = (OpenSockets::new(1, 1), Arc::new(Kept::default()));
    let keeper: Arc<dyn KeepIdle> = kept.clone();
    sockets.kept_by(Arc::downgrade(&keeper));
    *kept.0.lock().unwrap() = poll(&mut ask(&sockets, 1));
    assert_eq!(sockets.counts(), ConnectionCounts { open: 1, idle: 1, closing: 0, waiting: 0 });
    assert!(!sockets.is_room_wanted(&to(1)));
    assert!(poll(&mut ask(&sockets, 2)).is_some());
    assert_eq!(sockets.counts(), ConnectionCounts::default());
}

#[test]
fn a_raised_limit_serves_who_waited_for_it() {
    let sockets = OpenSockets::new(1, 2);
    let held = poll(&mut ask(&sockets, 1)).unwrap();
    let mut asking = ask(&sockets, 1);
    assert!(poll(&mut asking).is_none());
    sockets.set_cap(2);
    assert!(poll(&mut asking).is_some());
    drop(held);
}

proptest! {
    #[test]
    fn whatever_is_asked_held_and_given_up_the_caps_hold_and_nobody_is_forgotten(
        steps in proptest::collection::vec((0_usize..5, 0_usize..5, 0_usize..8), 0..120),
    ) {
        let sockets = OpenSockets::new(3, 2);
        let (mut asking, mut held): (Vec<Asking>, Vec<Permit>) = (Vec::new(), Vec::new());
        let mut most = 3;
        for (what, host, which) in steps {
            // A lowered limit takes effect as sockets close.
            let before = held.len();
            match what {
                0 | 1 => asking.push(ask(&sockets, host)),
                4 => {
                    most = host + 1;
                    sockets.set_cap(most);
                }
                2 if which < asking.len() => drop(asking.remove(which)),
                3 if which < held.len() => drop(held.remove(which)),
                _ => (),
            }
            asking.retain_mut(|a| poll(a).map(|permit| held.push(permit)).is_none());
            let count = sockets.lock();
            prop_assert!(count.open <= most.max(before) && count.open == held.len());
            let servers = &count.servers;
            prop_assert!(servers.values().all(|s| s.open <= 2) && count.starved.len() <= servers.len());
            drop(count);
        }
        while !asking.is_empty() {
            prop_assert!(!held.is_empty(), "{} wait and nobody holds anything", asking.len());
            held.clear();
            asking.retain_mut(|a| poll(a).map(|permit| held.push(permit)).is_none());
        }
        held.clear();
        let count = sockets.lock();
        prop_assert_eq!((count.open, count.servers.len(), count.starved.len()), (0, 0, 0));
    }
}
