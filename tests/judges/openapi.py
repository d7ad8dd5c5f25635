"""Validates a description of an API as openapi-spec-validator has it, and prints its operations, one a line.

openapi.py FILE
"""
import json
import sys

from openapi_spec_validator import OpenAPIV31SpecValidator


def main():
    with open(sys.argv[1], encoding="utf-8") as stream:
        document = json.load(stream)
    OpenAPIV31SpecValidator(document).validate()
    for path, item in document["paths"].items():
        for verb in item:
            print(verb.upper(), path)


main()
