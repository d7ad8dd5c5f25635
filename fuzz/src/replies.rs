//! Is a server that talks in lines understood in the same way however the network divides what it
//! says?

use orb_fetch::{HeardNews, HeardReply, LineRehearsal, hear_ftp_replies, hear_news};

thread_local! {
    static REHEARSAL: LineRehearsal = LineRehearsal::new().unwrap_or_else(|e| panic!("no sockets: {e}"));
}

/// The longest reply: what it may have before its last line, and that line.
const LONGEST_REPLY: usize = (64 + 2 * 4) * 1_024;
/// Lines of articles that are longer end the conversation.
const LONGEST_LINE: usize = 64 * 1_024;

/// What a server says, at once and as the first byte divides it.
fn divided(cut: u8, stream: &[u8]) -> [Vec<&[u8]>; 2] {
    let pieces = match usize::from(cut) {
        0 => stream.chunks(1).take(64).chain(stream.get(64..)).collect(),
        cut if cut < 128 => stream.chunks(cut).collect(),
        cut => <[&[u8]; 2]>::from(stream.split_at(stream.len() * (cut - 128) / 128)).to_vec(),
    };
    [vec![stream], pieces]
}

/// Replies of an FTP server. Input: a byte that says where to divide, then what the server says.
pub fn ftp_replies(bytes: &[u8]) {
    let Some((cut, stream)) = bytes.split_first() else { return };
    let hear = |pieces: Vec<&[u8]>| -> Vec<HeardReply> {
        REHEARSAL.with(|rehearsal| hear_ftp_replies(rehearsal, &pieces)).unwrap_or_else(|e| panic!("{e}"))
    };
    let [whole, pieced] = divided(*cut, stream).map(hear);
    assert_eq!(whole, pieced);
    assert!(whole.len() <= stream.iter().filter(|b| **b == b'\n').count());
    for reply in &whole {
        assert!((100..600).contains(&reply.code) && reply.text.len() <= 3 * LONGEST_REPLY, "{reply:?}");
        assert!(reply.line.starts_with(&reply.code.to_string()), "{reply:?}");
        assert!(!reply.line.contains(char::is_control) && reply.line.chars().count() <= 204, "{reply:?}");
        assert!(reply.ports.iter().flatten().all(|port| *port >= 1_024), "{reply:?}");
        assert!(reply.status.is_none_or(|status| (100..=999).contains(&status)), "{reply:?}");
    }
}

/// Answers of a news server about a group. Input: a byte of options, a byte that says where to
/// divide, then what the server says.
pub fn news(bytes: &[u8]) {
    let Some(([options, cut], stream)) = bytes.split_first_chunk() else { return };
    let most = if options & 1 == 0 { 1_000_000 } else { 40 };
    let hear = |pieces: Vec<&[u8]>| -> HeardNews {
        REHEARSAL.with(|rehearsal| hear_news(rehearsal, &pieces, most)).unwrap_or_else(|e| panic!("{e}"))
    };
    let [whole, pieced] = divided(*cut, stream).map(hear);
    assert_eq!(whole, pieced);
    for (listing, broken) in &whole.listings {
        assert_eq!(*broken, 0, "{listing:?}");
        for entry in &listing.entries {
            let name = entry.reference.strip_suffix('/').unwrap_or(&entry.reference);
            assert!(!name.is_empty() && !name.contains('/') && name != ".." && name != ".", "{name}");
            assert!(name.is_ascii() && !name.contains(|c: char| c.is_ascii_control()), "{name}");
        }
    }
    let Some((article, is_cut)) = &whole.article else { return };
    assert!(article.is_empty() || article.ends_with(b"\r\n"), "lines have ends");
    // Every line was counted before its end was added.
    let lines = article.iter().filter(|b| **b == b'\n').count();
    assert!(article.len() as u64 <= most + 2 * lines as u64 && (*is_cut || article.len() <= 2 * stream.len()));
    assert!(article.split(|b| *b == b'\n').all(|line| line.len() <= LONGEST_LINE + 1), "a line is too long");
}
