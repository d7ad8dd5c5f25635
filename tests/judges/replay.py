"""Serves one archive with pywb on a free loopback port, says which on standard output, and goes on until it is ended.

replay.py CDXJ-DIRECTORY WARC-DIRECTORY
"""
from gevent.monkey import patch_all

patch_all()

import sys

from pywb.apps.frontendapp import FrontEndApp
from pywb.utils.geventserver import GeventServer, RequestURIWSGIHandler


def main():
    index, archive = sys.argv[1:]
    collection = {"index_paths": index, "archive_paths": archive.rstrip("/") + "/"}
    app = FrontEndApp(config_file=None, custom_config={"collections": {"orb": collection}})
    server = GeventServer(app, port=0, hostname="127.0.0.1", handler_class=RequestURIWSGIHandler)
    print(server.port, flush=True)
    server.join()


main()
