"""Follows every link of the bench web with Scrapy, as its tutorial would: spider.py SEED [PROXY]"""
import sys

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.linkextractors import LinkExtractor


class Spider(scrapy.Spider):
    name = "bench"
    links = LinkExtractor()

    def __init__(self, seed, proxy=None):
        super().__init__()
        self.start_urls = [seed]
        self.meta = {"proxy": proxy} if proxy else {}

    async def start(self):
        for url in self.start_urls:
            yield scrapy.Request(url, meta=dict(self.meta))

    def parse(self, response):
        if not isinstance(response, scrapy.http.TextResponse):
            return
        yield {"url": response.url, "title": response.css("title::text").get()}
        for link in self.links.extract_links(response):
            yield scrapy.Request(link.url, meta=dict(self.meta))


process = CrawlerProcess(settings={
    "CONCURRENT_REQUESTS": 64,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 64,
    "DOWNLOAD_DELAY": 0,
    "ROBOTSTXT_OBEY": True,
    "LOG_ENABLED": False,
    "TELNETCONSOLE_ENABLED": False,
    "FEEDS": {"pages.jsonl": {"format": "jsonlines"}},
})
process.crawl(Spider, *sys.argv[1:])
process.start()
