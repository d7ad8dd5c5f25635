//! How are requests and replies of SFTP written?
//!
//! Version 3 (draft-ietf-secsh-filexfer-02), which every server speaks: a length, a type, a number
//! that the reply repeats, and fields. Only what reads is written here. What a server sends is
//! data: a reply that does not fit its own length is none.

use crate::listed::EntryStamp;
use bytes::{Buf, Bytes, BytesMut};
use orb_page::Moment;

/// The version spoken.
pub(super) const VERSION: u32 = 3;
/// Maximum length of a packet, as in OpenSSH.
const LONGEST: usize = 256 * 1024;

const SIZE: u32 = 1;
const OWNER: u32 = 2;
const PERMISSIONS: u32 = 4;
const TIMES: u32 = 8;
const EXTENDED: u32 = 0x8000_0000;
/// For opening: to read.
const READ_ONLY: u32 = 1;

/// What is asked of a server.
#[derive(Clone, Copy, Debug)]
pub(super) enum SftpRequest<'a> {
    RealPath(&'a [u8]),
    Stat(&'a [u8]),
    Open(&'a [u8]),
    OpenDirectory(&'a [u8]),
    ReadDirectory { handle: &'a [u8] },
    Read { handle: &'a [u8], at: u64, most: u32 },
    Close { handle: &'a [u8] },
}

impl SftpRequest<'_> {
    /// Appends the request under its number.
    pub(super) fn write(&self, id: u32, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(&[0; 4]);
        let (kind, name) = match self {
            Self::Open(path) => (3, path),
            Self::Close { handle } => (4, handle),
            Self::Read { handle, .. } => (5, handle),
            Self::OpenDirectory(path) => (11, path),
            Self::ReadDirectory { handle } => (12, handle),
            Self::RealPath(path) => (16, path),
            Self::Stat(path) => (17, path),
        };
        out.push(kind);
        out.extend_from_slice(&id.to_be_bytes());
        out.extend_from_slice(&u32::try_from(name.len()).unwrap_or(u32::MAX).to_be_bytes());
        out.extend_from_slice(name);
        match self {
            // No attributes are set.
            Self::Open(_) => out.extend_from_slice(&[READ_ONLY.to_be_bytes(), [0; 4]].concat()),
            Self::Read { at, most, .. } => {
                out.extend_from_slice(&at.to_be_bytes());
                out.extend_from_slice(&most.to_be_bytes());
            }
            _ => {}
        }
        let length = u32::try_from(out.len() - start - 4).unwrap_or(u32::MAX);
        out[start..start + 4].copy_from_slice(&length.to_be_bytes());
    }
}

/// The packet that begins a conversation.
pub(super) fn greeting() -> Vec<u8> {
    [&5_u32.to_be_bytes()[..], &[1], &VERSION.to_be_bytes()].concat()
}

/// A packet of a server.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum SftpReply {
    Version(u32),
    Status(SftpStatus),
    Handle(Bytes),
    Bytes(Bytes),
    Names(Vec<SftpName>),
    Attributes(FileAttributes),
}

/// How a request ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SftpStatus {
    pub(super) code: u32,
    /// In the server's words.
    pub(super) text: String,
}

impl SftpStatus {
    pub(super) const END: u32 = 1;
    pub(super) const NO_SUCH_FILE: u32 = 2;
    pub(super) const DENIED: u32 = 3;
    pub(super) const UNSUPPORTED: u32 = 8;
}

/// What is found under a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NodeType {
    File,
    Directory,
    Link,
    /// A pipe, a device, a socket.
    Other,
}

/// What a server says of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FileAttributes {
    pub(super) size: Option<u64>,
    pub(super) permissions: Option<u32>,
    /// In seconds since the epoch.
    pub(super) modified: Option<u32>,
}

impl FileAttributes {
    pub(super) fn node(&self) -> Option<NodeType> {
        self.permissions.map(|permissions| match permissions & 0o170_000 {
            0o100_000 => NodeType::File,
            0o040_000 => NodeType::Directory,
            0o120_000 => NodeType::Link,
            // Some servers tell the rights alone.
            0 => NodeType::File,
            _ => NodeType::Other,
        })
    }

    /// Size and time, by which versions are told apart.
    pub(super) fn stamp(&self) -> Option<EntryStamp> {
        let modified = Moment(i64::from(self.modified?) * 1_000);
        Some(EntryStamp { size: self.size, modified, grain: 1_000, is_local: false })
    }
}

/// An entry of a directory, or a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SftpName {
    pub(super) name: Bytes,
    pub(super) attributes: FileAttributes,
    /// The first letter of its line in `ls -l`.
    pub(super) mark: Option<u8>,
}

impl SftpName {
    pub(super) fn node(&self) -> NodeType {
        self.attributes.node().unwrap_or(match self.mark {
            Some(b'd') => NodeType::Directory,
            Some(b'l') => NodeType::Link,
            Some(b'p' | b's' | b'b' | b'c') => NodeType::Other,
            _ => NodeType::File,
        })
    }
}

/// Takes the next packet from what has come, if it is whole: its number (that of a version is 0),
/// and what it says. `Err` where it is none.
pub(super) fn next(buf: &mut BytesMut) -> Result<Option<(u32, SftpReply)>, &'static str> {
    let Some(length) = buf.get(..4) else { return Ok(None) };
    let length = length.iter().fold(0, |length, byte| length << 8 | usize::from(*byte));
    if length > LONGEST {
        return Err("the server's packet is too long");
    }
    if buf.len() < length + 4 {
        return Ok(None);
    }
    buf.advance(4);
    let mut fields = buf.split_to(length).freeze();
    read(&mut fields).map(Some).ok_or("the server's packet does not say what it should")
}

fn read(fields: &mut Bytes) -> Option<(u32, SftpReply)> {
    let kind = fields.try_get_u8().ok()?;
    if kind == 2 {
        return Some((0, SftpReply::Version(fields.try_get_u32().ok()?)));
    }
    let id = fields.try_get_u32().ok()?;
    let reply = match kind {
        101 => {
            let code = fields.try_get_u32().ok()?;
            // Old servers leave the words out.
            let text = string(fields).unwrap_or_default();
            SftpReply::Status(SftpStatus { code, text: String::from_utf8_lossy(&text).into_owned() })
        }
        102 => SftpReply::Handle(string(fields)?),
        103 => SftpReply::Bytes(string(fields)?),
        104 => SftpReply::Names(names(fields)?),
        105 => SftpReply::Attributes(attributes(fields)?),
        _ => return None,
    };
    Some((id, reply))
}

fn string(fields: &mut Bytes) -> Option<Bytes> {
    let length = usize::try_from(fields.try_get_u32().ok()?).ok()?;
    (length <= fields.len()).then(|| fields.split_to(length))
}

fn names(fields: &mut Bytes) -> Option<Vec<SftpName>> {
    let count = fields.try_get_u32().ok()?;
    let mut names = Vec::new();
    for _ in 0..count {
        let (name, line) = (string(fields)?, string(fields)?);
        names.push(SftpName { name, mark: line.first().copied(), attributes: attributes(fields)? });
    }
    Some(names)
}

fn attributes(fields: &mut Bytes) -> Option<FileAttributes> {
    let (mut found, flags) = (FileAttributes::default(), fields.try_get_u32().ok()?);
    if flags & SIZE != 0 {
        found.size = Some(fields.try_get_u64().ok()?);
    }
    if flags & OWNER != 0 {
        fields.try_get_u64().ok()?;
    }
    if flags & PERMISSIONS != 0 {
        found.permissions = Some(fields.try_get_u32().ok()?);
    }
    if flags & TIMES != 0 {
        fields.try_get_u32().ok()?;
        found.modified = Some(fields.try_get_u32().ok()?);
    }
    if flags & EXTENDED != 0 {
        for _ in 0..fields.try_get_u32().ok()? {
            string(fields)?;
            string(fields)?;
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A packet of these fields.
    fn packet(fields: &[&[u8]]) -> BytesMut {
        let fields = fields.concat();
        let mut out = BytesMut::from(&u32::try_from(fields.len()).unwrap().to_be_bytes()[..]);
        out.extend_from_slice(&fields);
        out
    }

    fn text(text: &[u8]) -> Vec<u8> {
        [&u32::try_from(text.len()).unwrap().to_be_bytes()[..], text].concat()
    }

    #[test]
    fn requests_are_written_as_the_draft_says() {
        let mut out = Vec::new();
        SftpRequest::Open(b"/a").write(7, &mut out);
        assert_eq!(out, b"\0\0\0\x13\x03\0\0\0\x07\0\0\0\x02/a\0\0\0\x01\0\0\0\0");
        out.clear();
        SftpRequest::Read { handle: b"h", at: 1, most: 2 }.write(8, &mut out);
        assert_eq!(out, b"\0\0\0\x16\x05\0\0\0\x08\0\0\0\x01h\0\0\0\0\0\0\0\x01\0\0\0\x02");
        assert_eq!(greeting(), b"\0\0\0\x05\x01\0\0\0\x03");
    }

    #[test]
    fn replies_are_read_one_by_one_and_in_part_not_at_all() {
        let mut buf = packet(&[b"\x02\0\0\0\x03", &text(b"ext"), &text(b"1")]);
        buf.extend_from_slice(&packet(&[b"\x66\0\0\0\x05", &text(b"handle")]));
        buf.extend_from_slice(&packet(&[b"\x65\0\0\0\x06\0\0\0\x02", &text(b"No such file"), &text(b"")]));
        buf.extend_from_slice(&packet(&[b"\x65\0\0\0\x07\0\0\0\x01"]));
        buf.extend_from_slice(b"\0\0\0\x09\x67");
        assert_eq!(next(&mut buf), Ok(Some((0, SftpReply::Version(3)))));
        assert_eq!(next(&mut buf), Ok(Some((5, SftpReply::Handle(Bytes::from_static(b"handle"))))));
        let status = |code, text: &str| SftpReply::Status(SftpStatus { code, text: text.to_owned() });
        assert_eq!(next(&mut buf), Ok(Some((6, status(2, "No such file")))));
        assert_eq!(next(&mut buf), Ok(Some((7, status(1, "")))));
        assert_eq!(next(&mut buf), Ok(None));
    }

    #[test]
    fn entries_come_with_size_time_and_type() {
        let attributes = [&(SIZE | OWNER | PERMISSIONS | TIMES | EXTENDED).to_be_bytes()[..], &12_u64.to_be_bytes()];
        let attributes =
            [&attributes.concat()[..], &[0; 8], &0o100_644_u32.to_be_bytes(), &[0; 4], &9_u32.to_be_bytes()];
        let attributes = [&attributes.concat()[..], &1_u32.to_be_bytes(), &text(b"a"), &text(b"b")].concat();
        let entry = [&text(b"x")[..], &text(b"-rw x"), &attributes].concat();
        let bare = [&text(b"d")[..], &text(b"drwx d"), &[0; 4]].concat();
        let mut buf = packet(&[b"\x68\0\0\0\x01\0\0\0\x02", &entry, &bare]);
        let Ok(Some((1, SftpReply::Names(names)))) = next(&mut buf) else { panic!("no names") };
        assert_eq!((&names[0].name[..], names[0].node()), (&b"x"[..], NodeType::File));
        let stamp = names[0].attributes.stamp().unwrap();
        assert_eq!((stamp.size, stamp.modified, stamp.grain), (Some(12), Moment(9_000), 1_000));
        assert_eq!((names[1].node(), names[1].attributes.stamp()), (NodeType::Directory, None));
    }

    #[test]
    fn what_does_not_fit_its_length_is_no_reply() {
        for fields in [
            &b""[..],
            b"\x66\0\0\0\x01\0\0\0\x09ab",
            b"\x68\0\0\0\x01\xff\xff\xff\xff",
            b"\x69\0\0\0\x01\x80\0\0\0\xff\xff\xff\xff",
            b"\xc8\0\0\0\x01",
            b"\x67\0\0",
        ] {
            assert!(next(&mut packet(&[fields])).is_err(), "{fields:?}");
        }
        assert!(next(&mut BytesMut::from(&b"\x7f\xff\xff\xff\x67"[..])).is_err());
    }
}
