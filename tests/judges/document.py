"""Reads HTML files as html5lib does, and prints title, anchors and images of each as a JSON object a line.

document.py FILE...
"""
import json
import sys

import html5lib


def words(text):
    return " ".join((text or "").split())


def main():
    for path in sys.argv[1:]:
        with open(path, "rb") as stream:
            tree = html5lib.parse(stream, namespaceHTMLElements=False)
        title = tree.find(".//title")
        print(json.dumps({
            "title": words(title.text) if title is not None else None,
            "a": [a.get("href").strip() for a in tree.iter("a") if a.get("href") is not None],
            "img": [img.get("src").strip() for img in tree.iter("img") if img.get("src") is not None],
        }))


main()
