"""Reads a page of metrics as Prometheus' own Python client does, and prints each family as a JSON object a line.

metrics.py FILE...
"""
import json
import sys

from prometheus_client.parser import text_string_to_metric_families


def main():
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8", newline="") as stream:
            for family in text_string_to_metric_families(stream.read()):
                print(json.dumps({
                    "name": family.name,
                    "type": family.type,
                    "help": family.documentation,
                    "samples": [[s.name, s.labels, s.value] for s in family.samples],
                }))


main()
