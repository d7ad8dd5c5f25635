"""Writes pages as Markdown with other people's tools: NAME DIRECTORY FILE..."""

import sys
from pathlib import Path


def writer(name):
    if name == "html2text":
        import html2text

        def write(html):
            made = html2text.HTML2Text(baseurl="http://a.example/", bodywidth=0)
            made.unicode_snob = True
            return made.handle(html)

        return write
    import markdownify

    return lambda html: markdownify.markdownify(html, heading_style="ATX")


def main():
    name, directory, *files = sys.argv[1:]
    write = writer(name)
    for i, path in enumerate(files):
        html = Path(path).read_text(encoding="utf-8", errors="replace")
        Path(directory, f"{i}.md").write_text(write(html), encoding="utf-8")


main()
