"""Follows every link of the bench web with Scrapy, as its tutorial would: with_scrapy.py SEED"""
import sys

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.linkextractors import LinkExtractor


class Spider(scrapy.Spider):
    name = "bench"
    links = LinkExtractor()

    def __init__(self, seed):
        super().__init__()
        self.seed = seed

    async def start(self):
        yield scrapy.Request(self.seed)

    def parse(self, response):
        if not isinstance(response, scrapy.http.TextResponse):
            return
        yield {"url": response.url, "title": response.css("title::text").get()}
        for link in self.links.extract_links(response):
            yield scrapy.Request(link.url)


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
