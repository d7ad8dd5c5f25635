"""Prints the signature of Standard Webhooks: secret, id and timestamp as arguments, then the file with the body."""

import base64
import hashlib
import hmac
import sys

secret, name, time, path = sys.argv[1:]
with open(path, "rb") as file:
    body = file.read()
signed = hmac.new(secret.encode(), f"{name}.{time}.".encode() + body, hashlib.sha256).digest()
print(base64.b64encode(signed).decode())
