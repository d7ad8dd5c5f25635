#!/usr/bin/env python3
"""A comparator for orb track: two versions of a page are the same while their prices are.

In the project file:

    [[track.compare]]
    match = '/shop/'
    program = ["python3", "examples/compare_prices.py"]

Orbweaver starts it once and writes one JSON object a line on its standard input; every line is answered by one on its
standard output, in the same order. See docs/compare.md.
"""

import json
import re
import sys

PRICE = re.compile(r"(?:EUR|USD|€|\$)\s?(\d[\d.,]*)|(\d[\d.,]*)\s?(?:EUR|USD|€)")


def prices(text):
    """The prices in a text, in order."""
    return [(a or b).rstrip(".,") for a, b in PRICE.findall(text)]


def compare(question):
    """What is said of two versions."""
    old, new = prices(question["old"]), prices(question["new"])
    if old == new:
        return {"same": True}
    gone = [price for price in old if price not in new]
    come = [price for price in new if price not in old]
    return {"same": False, "detail": f"prices gone: {', '.join(gone) or 'none'}; new: {', '.join(come) or 'none'}"}


def main():
    for line in sys.stdin:
        question = json.loads(line)
        answer = {"id": question["id"], **compare(question)}
        # Flushed at once: Orbweaver waits for it.
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
