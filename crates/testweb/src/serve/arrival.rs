//! When did bytes arrive?
//!
//! On a busy machine a server reads late what arrived in time, and would then report gaps between
//! requests that are shorter than the client made them. So the kernel is asked when it received the
//! bytes (`SO_TIMESTAMPNS`); where it cannot say, the time of reading must do.

use std::io;
use std::time::Instant;
use tokio::net::TcpStream;

/// How much is read at once.
#[cfg(target_os = "linux")]
const READ: usize = 8 << 10;

/// Has the kernel stamp what arrives at all connections of a listener.
pub(super) fn stamp(listener: &std::net::TcpListener) {
    #[cfg(target_os = "linux")]
    {
        use nix::sys::socket::{setsockopt, sockopt::ReceiveTimestampns};
        // Without stamps the time of reading is used.
        let _ = setsockopt(listener, ReceiveTimestampns, &true);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = listener;
}

/// Reads what is there, as `try_read_buf` does, and says when the last of it arrived.
#[cfg(target_os = "linux")]
pub(super) fn try_read(socket: &TcpStream, input: &mut Vec<u8>) -> io::Result<(usize, Instant)> {
    use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg};
    use std::os::fd::AsRawFd as _;
    socket.try_io(tokio::io::Interest::READABLE, || {
        let mut space = nix::cmsg_space!(nix::sys::time::TimeSpec);
        let mut bytes = [0; READ];
        let mut parts = [io::IoSliceMut::new(&mut bytes)];
        let read = recvmsg::<()>(socket.as_raw_fd(), &mut parts, Some(&mut space), MsgFlags::empty())?;
        let stamps = read.cmsgs().into_iter().flatten().filter_map(|message| match message {
            ControlMessageOwned::ScmTimestampns(at) => Some(std::time::Duration::from(at)),
            _ => None,
        });
        let (at, length) = (stamps.last().map_or_else(Instant::now, moment), read.bytes);
        input.extend_from_slice(&bytes[..length]);
        Ok((length, at))
    })
}

#[cfg(not(target_os = "linux"))]
pub(super) fn try_read(socket: &TcpStream, input: &mut Vec<u8>) -> io::Result<(usize, Instant)> {
    socket.try_read_buf(input).map(|length| (length, Instant::now()))
}

/// The moment of a time since the epoch that has just passed.
#[cfg(target_os = "linux")]
fn moment(stamp: std::time::Duration) -> Instant {
    let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    let at = Instant::now();
    at.checked_sub(now.saturating_sub(stamp)).unwrap_or(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;
    use std::time::Duration;

    #[tokio::test]
    async fn a_server_that_reads_late_knows_when_bytes_arrived() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        stamp(&listener);
        let mut client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let before = Instant::now();
        client.write_all(b"GET").unwrap();
        let after = Instant::now();
        let (socket, _) = tokio::net::TcpListener::from_std(listener).unwrap().accept().await.unwrap();
        // As if the machine had been busy.
        tokio::time::sleep(Duration::from_millis(50)).await;
        socket.readable().await.unwrap();
        let mut input = Vec::new();
        let (read, at) = try_read(&socket, &mut input).unwrap();
        assert_eq!((read, &input[..]), (3, &b"GET"[..]));
        let slack = Duration::from_millis(2);
        let exact = at + slack >= before && at <= after + slack;
        assert!(exact || !cfg!(target_os = "linux"), "{:?} after it was sent", at.saturating_duration_since(after));
    }
}
