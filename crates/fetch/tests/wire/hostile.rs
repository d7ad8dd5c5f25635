//! Does every exchange end, whatever a server sends, and are the bytes kept those that were sent?

use crate::server::{Server, bytes, config, fetcher, get};
use orb_fetch::FetchConfig;
use proptest::collection::vec;
use proptest::prelude::*;
use tokio::runtime::Builder;

/// Responses made of typical fragments in any order.
fn answers() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just(b"HTTP/1.1 200 OK\r\n".to_vec()),
        Just(b"HTTP/1.1 100 Continue\r\n\r\n".to_vec()),
        Just(b"HTTP/1.0 404 No\n".to_vec()),
        Just(b"HTTP/1.1 204 None\r\n".to_vec()),
        Just(b"Content-Length: 7\r\n".to_vec()),
        Just(b"Content-Length: 90\r\n".to_vec()),
        Just(b"Content-Length: 18446744073709551616\r\n".to_vec()),
        Just(b"Transfer-Encoding: chunked\r\n".to_vec()),
        Just(b"Connection: keep-alive\r\n".to_vec()),
        Just(b" folded\r\n".to_vec()),
        Just(b"\r\n".to_vec()),
        Just(b"\n".to_vec()),
        Just(b"5\r\nhello\r\n".to_vec()),
        Just(b"fffffffffffffffe\r\n".to_vec()),
        Just(b"0\r\n\r\n".to_vec()),
        vec(any::<u8>(), 0..20),
    ];
    (any::<bool>(), vec(piece, 0..10)).prop_map(|(begun, pieces)| {
        let start: &[u8] = if begun { b"HTTP/1.1 200 OK\r\n" } else { b"" };
        [start, &pieces.concat()].concat()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_a_server_sends_is_kept_as_it_came(sent in answers(), over in prop_oneof![Just(4_u64), Just(1_000)]) {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let outcome = runtime.block_on(async {
            let server = Server::once(sent.clone()).await;
            get(&fetcher(FetchConfig { max_size: 40, spool_over: over, ..config() }), &server.url("/")).await
        });
        if let Ok(response) = outcome.result {
            let (wire, body) = (bytes(&response.wire), bytes(&response.body));
            let kept = [response.head(), &wire].concat();
            prop_assert!(memchr::memmem::find(&sent, &kept).is_some());
            prop_assert!(body.len() <= 40 && body.len() <= wire.len());
            prop_assert!(response.head().starts_with(b"HTTP/") && response.headers.len() <= sent.len());
        }
    }
}
