"""Reads an Atom file as RFC 4287 has it and prints an entry a line: id, title, updated, link.

Then feedparser reads it, as feed readers do, and must find the same.
"""

import json
import sys
import xml.etree.ElementTree as tree
from datetime import datetime

import feedparser

ATOM = "{http://www.w3.org/2005/Atom}"


def one(element, name):
    found = element.findall(ATOM + name)
    assert len(found) == 1, f"{len(found)} of {name} in {element.tag}"
    return found[0]


def moment(element):
    return datetime.fromisoformat(one(element, "updated").text)


feed = tree.parse(sys.argv[1]).getroot()
assert feed.tag == ATOM + "feed", feed.tag
assert one(feed, "title").text and one(one(feed, "author"), "name").text
names = [one(feed, "id").text]
latest = moment(feed)
links = []
for entry in feed.findall(ATOM + "entry"):
    names.append(one(entry, "id").text)
    assert moment(entry) <= latest
    assert one(entry, "summary").text and one(entry, "category").get("term")
    link = one(entry, "link")
    assert link.get("rel") == "alternate"
    links.append(link.get("href"))
    print(json.dumps([names[-1], one(entry, "title").text, one(entry, "updated").text, link.get("href")]))
assert len(set(names)) == len(names), "an id is given twice"
assert all(name.startswith("urn:uuid:") for name in names)

read = feedparser.parse(sys.argv[1])
assert not read.bozo, read.bozo_exception
assert read.version == "atom10" and read.feed.title, read.version
assert [entry.id for entry in read.entries] == names[1:], "feedparser finds other entries"
assert [entry.link for entry in read.entries] == links, "feedparser finds other links"
assert all(entry.updated_parsed for entry in read.entries)
