"""Loads pages in Chromium with Playwright, as a plain script would, and keeps nothing.

with_playwright.py CHROMIUM TABS URLS: so many tabs at once take the URLs of a file. Each page is
loaded in a context of its own until the network is idle; its document and its links are read. Prints
one line of JSON.
"""

import asyncio
import json
import sys

from playwright.async_api import async_playwright

# Locators look into open shadow trees; so does this.
DEEP = """(() => { const found = []; const walk = (root) => { for (const element of root.querySelectorAll('*')) {
  if (element.matches('a[href],area[href]')) found.push(element.href); if (element.shadowRoot) walk(element.shadowRoot); } };
  walk(document); return found; })()"""


async def main(chromium, tabs, file):
    with open(file, encoding="utf-8") as lines:
        urls = asyncio.Queue()
        for line in lines:
            urls.put_nowait(line.strip())
    found = {}
    async with async_playwright() as tools:
        browser = await tools.chromium.launch(executable_path=chromium)

        async def tab():
            while not urls.empty():
                url = urls.get_nowait()
                page = await browser.new_page()
                await page.goto(url, wait_until="networkidle")
                html = await page.content()
                links = sorted(set(await page.evaluate(DEEP)))
                found[url] = {"title": await page.title(), "length": len(html), "links": links}
                await page.close()

        await asyncio.gather(*(tab() for _ in range(tabs)))
        await browser.close()
    print(json.dumps({"pages": len(found), "found": found}))


asyncio.run(main(sys.argv[1], int(sys.argv[2]), sys.argv[3]))
