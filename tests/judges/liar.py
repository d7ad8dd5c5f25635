"""Speaks SFTP on standard input and output, in place of ssh, and lies.

The root lists names that lead elsewhere and five files. One of them is sound; asking for the others
is answered under another number, by a packet that is too long, by hanging up, or by what was not
asked for.
"""

import struct
import sys

NAMES = [
    b".", b"..", b"../up", b"/etc/passwd", b"a/b", b"line\nline", b"", b"nul\0",
    b"sound.txt", b"other-number.txt", b"too-long.txt", b"hangs-up.txt", b"other-type.txt",
]
CONTENT = b"sound\n"
FILE = struct.pack(">IQIII", 1 | 4 | 8, len(CONTENT), 0o100644, 0, 1_600_000_000)


def text(value):
    return struct.pack(">I", len(value)) + value


def send(kind, fields):
    packet = bytes([kind]) + fields
    sys.stdout.buffer.write(struct.pack(">I", len(packet)) + packet)
    sys.stdout.buffer.flush()


def receive():
    head = sys.stdin.buffer.read(4)
    if len(head) < 4:
        sys.exit(0)
    packet = sys.stdin.buffer.read(struct.unpack(">I", head)[0])
    return packet[0], packet[1:5], packet[5:]


def status(number, code):
    send(101, number + struct.pack(">I", code) + text(b"") + text(b""))


def main():
    listed = False
    while True:
        kind, number, rest = receive()
        path = rest[4:4 + struct.unpack(">I", rest[:4])[0]] if len(rest) >= 4 else b""
        if kind == 1:
            send(2, struct.pack(">I", 3))
        elif kind == 16:
            send(104, number + struct.pack(">I", 1) + text(b"/") + text(b"/") + struct.pack(">I", 0))
        elif kind == 11:
            listed = False
            send(102, number + text(b"directory"))
        elif kind == 12 and not listed:
            listed = True
            names = b"".join(text(name) + text(b"-rw") + FILE for name in NAMES)
            send(104, number + struct.pack(">I", len(NAMES)) + names)
        elif kind == 12:
            status(number, 1)
        elif kind == 17:
            send(105, number + FILE)
        elif kind == 3 and path == b"/other-number.txt":
            send(102, struct.pack(">I", 0xFFFFFF) + text(b"handle"))
        elif kind == 3 and path == b"/too-long.txt":
            sys.stdout.buffer.write(struct.pack(">I", 0x7FFFFFFF) + b"x")
            sys.stdout.buffer.flush()
        elif kind == 3 and path == b"/hangs-up.txt":
            sys.exit(0)
        elif kind == 3 and path == b"/other-type.txt":
            send(105, number + FILE)
        elif kind == 3:
            send(102, number + text(b"handle"))
        elif kind == 5:
            at = struct.unpack(">Q", rest[4 + len(path):12 + len(path)])[0]
            if at >= len(CONTENT):
                status(number, 1)
            else:
                send(103, number + text(CONTENT[at:]))
        else:
            status(number, 0)


main()
