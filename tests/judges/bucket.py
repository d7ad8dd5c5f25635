"""Serves S3 with moto on a free loopback port, makes the bucket `crawl`, says its port on standard output, and goes on
until it is ended."""

import sys

import boto3
from moto.server import ThreadedMotoServer


def main():
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    _, port = server.get_host_and_port()
    key = {"aws_access_key_id": "key", "aws_secret_access_key": "secret", "region_name": "us-east-1"}
    boto3.client("s3", endpoint_url=f"http://127.0.0.1:{port}", **key).create_bucket(Bucket="crawl")
    print(port, flush=True)
    # Until whoever started it has gone.
    sys.stdin.read()


main()
