//! Is a text a mail, or a mailbox full of them?

/// Headers with which mails begin.
const HEADERS: &[&str] = &[
    "received",
    "return-path",
    "from",
    "to",
    "cc",
    "subject",
    "date",
    "message-id",
    "mime-version",
    "delivered-to",
    "reply-to",
    "sender",
    "content-type",
    "in-reply-to",
    "references",
    "newsgroups",
    "path",
    "organization",
    "x-mailer",
    "x-originating-ip",
    "dkim-signature",
    "content-transfer-encoding",
    "list-id",
    "status",
    "user-agent",
    "sent",
    "authentication-results",
    "received-spf",
];

/// Headers that hardly anything but a mail has.
const TELLING: &[&str] = &["received", "return-path", "message-id", "delivered-to", "newsgroups", "mime-version"];

/// How many headers a mail must have, and how many if none of them is telling.
const ENOUGH: usize = 3;
const PLENTY: usize = 4;

/// Headers that do not belong to mails alone, but without which plenty of others say nothing.
const NEEDED: [&str; 3] = ["from", "to", "subject"];

/// The type of a mail or mailbox by its first lines.
pub(super) fn kind(start: &[u8]) -> Option<&'static str> {
    let lines = || start.split(|&b| b == b'\n').map(|l| l.strip_suffix(b"\r").unwrap_or(l));
    let first = lines().next()?;
    if first.starts_with(b"From ") && first.iter().filter(|&&b| b == b':').count() >= 1 {
        return (is_postmark(first) || is_mail(lines().skip(1), 1)).then_some("application/mbox");
    }
    is_mail(lines(), ENOUGH).then_some("message/rfc822")
}

/// Whether a line separates the mails of a mailbox: `From ann Mon Jun  1 10:00:00 2009` (RFC 4155).
fn is_postmark(line: &[u8]) -> bool {
    let words: Vec<&[u8]> = line.split(|b| *b == b' ').filter(|word| !word.is_empty()).collect();
    let [_, _, day, month, date, time, ..] = words.as_slice() else { return false };
    let is_one_of = |names: &[u8], word: &[u8]| names.chunks_exact(3).any(|name| name == word);
    let is_time = time.len() >= 5 && time.iter().all(|b| b.is_ascii_digit() || *b == b':');
    is_one_of(b"MonTueWedThuFriSatSun", day)
        && is_one_of(b"JanFebMarAprMayJunJulAugSepOctNovDec", month)
        && date.iter().all(u8::is_ascii_digit)
        && is_time
}

/// Whether lines begin with as many headers of mails, one of them telling.
fn is_mail<'a>(lines: impl Iterator<Item = &'a [u8]>, enough: usize) -> bool {
    let mut known = 0;
    let mut telling = enough == 1;
    let mut needed = [false; NEEDED.len()];
    for line in lines {
        let Some(&first) = line.first() else { break };
        if first == b' ' || first == b'\t' || (first == b'>' && known == 0) {
            continue;
        }
        let Some(name) = line.split(|&b| b == b':').next().filter(|n| n.len() < line.len()) else { break };
        if name.is_empty() || !name.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_')) {
            break;
        }
        let is = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
        let is_extra = name.starts_with(b"X-") || name.starts_with(b"ARC-");
        known += usize::from(HEADERS.iter().any(|h| is(h)) || (known > 0 && is_extra));
        telling |= TELLING.iter().any(|h| is(h));
        needed.iter_mut().zip(NEEDED).for_each(|(seen, header)| *seen |= is(header));
    }
    (known >= enough && telling) || (known >= PLENTY && needed == [true; NEEDED.len()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mails_are_known_by_their_headers() {
        let mail = &b"Received: by a\r\n\tfor b\r\nFrom: a@b\r\nSubject: x\r\n\r\ntext"[..];
        assert_eq!(kind(mail), Some("message/rfc822"));
        assert_eq!(kind(b"From a@b Mon Jan  1 00:00:00 2001\nSubject: x\n\ntext"), Some("application/mbox"));
        assert_eq!(kind(b"From: a\nSent: Monday\nTo: b\nSubject: c\n\nd"), Some("message/rfc822"));
        assert_eq!(kind(b"Received: by a\nARC-Seal: i=1\nARC-Message-Signature: x\n"), Some("message/rfc822"));
        assert_eq!(kind(b"From a Mon Jun 01 10:00:00 2009\n\nno headers"), Some("application/mbox"));
        for text in
            [&b"From here: on\nwe go"[..], b"From: me\nTo: you\n\n", b"Note: this\nDate: that\nTo: all\n", b"", b"\n"]
        {
            assert_eq!(kind(text), None, "{}", String::from_utf8_lossy(text));
        }
    }
}
