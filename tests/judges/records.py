"""Lists the records of WARC files as warcio reads them, one JSON object a line.

records.py FILE...
"""
import json
import sys

from warcio.archiveiterator import ArchiveIterator


def main():
    for path in sys.argv[1:]:
        with open(path, "rb") as stream:
            for record in ArchiveIterator(stream):
                headers = record.rec_headers
                length = len(record.content_stream().read())
                print(json.dumps({
                    "type": record.rec_type,
                    "url": headers.get_header("WARC-Target-URI"),
                    "id": headers.get_header("WARC-Record-ID"),
                    "status": record.http_headers.get_statuscode() if record.http_headers else None,
                    "digest": headers.get_header("WARC-Payload-Digest"),
                    "truncated": headers.get_header("WARC-Truncated"),
                    "length": length,
                }))


main()
