"""Looks at the pages of a server in Chromium as a person does, and prints what it saw as JSON.

browser.py walk JOB    opens every page of a job in every theme and width, and asks axe about it
browser.py story JOB   goes from the first account to a schedule, with script, without, or by keyboard
browser.py replay JOB  opens one page of an archive, scripts and all, and waits for a text
browser.py links JOB   opens pages, scrolls them to their end and tells the links of each document
browser.py hold JOB    opens a page that is kept up to date, and tells what a reader holds of it before and after

JOB is a JSON file: {"base", "account": [name, password] or null for a guest, "paths", "views": [[theme, width], ...],
"shots"} for a walk, {"base", "first", "site", "how": "script" | "plain" | "keyboard"} for a story, {"base", "path",
"text"} for a replay, {"base", "paths"} for links, {"base", "account", "path"} for holding on.
"""
import json
import re
import sys
import urllib.parse
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect, sync_playwright

RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
# Nothing but the server under test can be reached.
ALONE = ["--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]
MOST_TABS = 150
# What a person takes the name of an element for.
NAME = """e => (e.getAttribute('aria-label') || (e.labels && e.labels[0] && e.labels[0].textContent)
    || e.innerText || e.value || '').trim().replace(/\\s+/g, ' ')"""


# Scrolls to the end again and again, until nothing more comes. The page is let rest before each
# time: what grows when it is seen must have been out of sight before.
CALM = """async () => {
    const state = () => [
        performance.getEntriesByType('resource').length, document.documentElement.scrollHeight, document.title,
    ].join(' ');
    const rest = async () => {
        for (let calm = 0, before = ''; calm < 30;) {
            await new Promise(requestAnimationFrame);
            calm = state() === before ? calm + 1 : 0;
            before = state();
        }
        return state();
    };
    for (let before = '', now = await rest(); now !== before; now = await rest()) {
        before = now;
        scrollTo(0, document.documentElement.scrollHeight);
    }
}"""
# document.links, and the same of shadow trees.
DOCUMENT_LINKS = """() => {
    const found = [...document.links].map((link) => link.href);
    const inside = (root) => {
        for (const element of root.querySelectorAll('*')) {
            if (!element.shadowRoot) continue;
            found.push(...[...element.shadowRoot.querySelectorAll('a[href], area[href]')].map((link) => link.href));
            inside(element.shadowRoot);
        }
    };
    inside(document);
    return found;
}"""
# What the scripts of hostile pages leave behind: where no dialog is allowed, nothing else tells that they ran.
TRACES = """() => [document.documentElement && document.documentElement.getAttribute('data-ran'), globalThis.ran]
    .filter((trace) => trace !== null && trace !== undefined).map(String)"""


class Watch:
    """Notes what a page does that it should not."""

    def __init__(self, page, base):
        self.host = urllib.parse.urlsplit(base).netloc
        self.ran, self.errors, self.strangers = [], [], []
        page.on("dialog", self.dialog)
        page.on("console", lambda said: self.errors.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("requestfinished", self.request)
        page.on("requestfailed", self.request)

    def dialog(self, dialog):
        if dialog.type == "alert":
            self.ran.append(dialog.message)
        dialog.accept()

    def request(self, request):
        there = urllib.parse.urlsplit(request.url)
        is_blocked = (request.failure or "").endswith("csp")
        if there.scheme in ("http", "https") and there.netloc != self.host and not is_blocked:
            self.strangers.append(request.url)

    def trace(self, page):
        for frame in page.frames:
            self.ran.extend(f"{trace} in {frame.url}" for trace in frame.evaluate(TRACES))

    def take(self):
        seen = {"ran": self.ran[:], "errors": self.errors[:], "strangers": self.strangers[:]}
        for noted in (self.ran, self.errors, self.strangers):
            noted.clear()
        return seen


def log_in(page, base, account):
    page.goto(base + "/login")
    page.get_by_label("Name").fill(account[0])
    page.get_by_label("Password").fill(account[1])
    page.get_by_role("button", name="Log in").click()


def walk(browser, job):
    seen = []
    for theme, width in job["views"]:
        context = browser.new_context(
            color_scheme=theme, viewport={"width": width, "height": 900}, reduced_motion="reduce"
        )
        page = context.new_page()
        watch = Watch(page, job["base"])
        if job["account"]:
            log_in(page, job["base"], job["account"])
        watch.take()
        for path in job["paths"]:
            answer = page.goto(job["base"] + path)
            is_page = "html" in (answer.headers.get("content-type") or "")
            found = Axe().run(page, options=RULES).response["violations"] if job.get("axe") and is_page else []
            watch.trace(page)
            wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            nodes = lambda rule: [node["html"][:200] + " " + node["failureSummary"][:300] for node in rule["nodes"][:3]]
            seen.append({
                "path": path, "view": f"{theme} {width}", "status": answer.status, "overflow": wide, **watch.take(),
                "violations": [{"id": rule["id"], "nodes": nodes(rule)} for rule in found],
            })
            if job.get("shots"):
                name = re.sub(r"[^a-z0-9]+", "-", path.lower()).strip("-") or "home"
                page.screenshot(path=Path(job["shots"]) / f"{name}-{theme}-{width}.png", full_page=True)
        context.close()
    return seen


class Hand:
    """Follows, writes and presses, with the mouse or with the keyboard alone."""

    def __init__(self, page, by_keyboard):
        self.page, self.by_keyboard = page, by_keyboard

    def reach(self, name, kinds):
        for _ in range(MOST_TABS):
            self.page.keyboard.press("Tab")
            focused = self.page.evaluate_handle("document.activeElement").as_element()
            if focused and focused.evaluate("e => e.tagName") in kinds and focused.evaluate(NAME).startswith(name):
                return
        raise AssertionError(f"{name} cannot be reached by keyboard on {self.page.url}")

    def follow(self, name, within=None):
        if self.by_keyboard:
            self.reach(name, ("A", "SUMMARY"))
            self.go(lambda: self.page.keyboard.press("Enter"))
        else:
            place = self.page.locator(within) if within else self.page
            self.go(lambda: place.get_by_role("link", name=re.compile("^" + re.escape(name))).first.click())

    def press(self, name):
        if self.by_keyboard:
            self.reach(name, ("BUTTON",))
            self.go(lambda: self.page.keyboard.press("Enter"))
        else:
            self.go(lambda: self.page.get_by_role("button", name=re.compile("^" + re.escape(name))).first.click())

    def write(self, name, text):
        if self.by_keyboard:
            self.reach(name, ("INPUT", "TEXTAREA"))
            self.page.keyboard.press("Control+A")
            self.page.keyboard.type(text) if text else self.page.keyboard.press("Delete")
        else:
            self.page.get_by_label(re.compile("^" + re.escape(name))).first.fill(text)

    def go(self, act):
        with self.page.expect_navigation():
            act()

    def must_say(self, text):
        said = self.page.locator("main").inner_text()
        assert text in said, f"{text!r} is not on {self.page.url}:\n{said}"


def finished(page):
    """Waits for the end of the run that is shown: the page follows it, and is another one then."""
    expect(page.locator("[data-events]")).to_have_count(0, timeout=60_000)


def rules(page, hand, job):
    hand.follow("Settings")
    hand.follow("Rules")
    hand.write("Regular expression of the new rule", "/private/")
    hand.write("Comment on the new rule", "not for us")
    hand.press("Add")
    hand.must_say("Not saved yet")
    hand.write("A URL to try", job["site"] + "private/x")
    hand.press("Try")
    hand.must_say("denied by rule 1")
    hand.press("Save the rules")
    hand.must_say("Saved")


def steps(page, hand, job):
    hand.follow("Steps")
    hand.write("A page with a form", job["site"] + "door")
    hand.press("Look for forms")
    hand.write("Name of the step", "door")
    hand.write("word", "sesame")
    hand.write("It went well", "Inside")
    hand.press("Take it over")
    hand.must_say("door")


def story(browser, job):
    by_keyboard = job["how"] == "keyboard"
    context = browser.new_context(java_script_enabled=job["how"] != "plain", viewport={"width": 1100, "height": 800})
    page = context.new_page()
    page.set_default_timeout(30_000)
    watch, hand, told = Watch(page, job["base"]), Hand(page, by_keyboard), []

    def at(what):
        told.append([what, urllib.parse.urlsplit(page.url).path])

    page.goto(job["base"] + job["first"])
    hand.write("Name", "ann")
    hand.write("Password", "a long password")
    hand.press("Make the account")
    at("account")
    hand.press("Log out")
    hand.write("Name", "ann")
    hand.write("Password", "a long password")
    hand.press("Log in")
    at("logged in")
    hand.write("An address to collect", job["site"])
    hand.press("Look at it")
    hand.write("Name", "library")
    hand.write("Time between", "0s")
    hand.press("Make it only")
    at("project")
    rules(page, hand, job)
    at("rules")
    steps(page, hand, job)
    at("steps")
    hand.follow("Runs")
    hand.follow("Start a run")
    hand.press("Crawl")
    at("live")
    finished(page)
    hand.follow("Runs")
    hand.follow("1")
    hand.must_say("accounted for")
    at("report")
    links = page.locator("main td a[href*='/pages/']").all()
    named = (re.search(r"/pages/(\d+)", link.get_attribute("href")) for link in links)
    numbers = list(dict.fromkeys(match[1] for match in named if match))
    contents = [context.request.get(f"{job['base']}/doc/library.{number}") for number in numbers]
    told.append(["document", [content.status for content in contents], [content.text() for content in contents]])
    rain = next(n for n, content in zip(numbers, contents) if "rain falls" in content.text())
    report = page.url
    page.goto(f"{job['base']}/p/library/pages/{rain}/content?as=view")
    assert any("The rain falls on the plains." in frame.locator("body").inner_text() for frame in page.frames)
    page.goto(report)
    hand.press("Acknowledge")
    page.goto(f"{job['base']}/p/library/runs/1")
    hand.must_say("Acknowledged")
    at("acknowledged")
    hand.follow("Settings")
    hand.write("Run again every", "6h")
    hand.press("Save the fields")
    hand.follow("Schedule")
    hand.must_say("library")
    at("schedule")
    return {"told": told, **watch.take()}


def replay(chromium, job):
    page = chromium.new_context().new_page()
    watch = Watch(page, job["base"])
    page.goto(job["base"] + job["path"])
    # pywb shows the page in a frame below its own bar.
    shown = page.frame_locator("iframe#replay_iframe")
    shown.get_by_text(job["text"], exact=True).first.wait_for()
    links = shown.locator("a[href]").evaluate_all("all => all.map((link) => link.textContent)")
    return {"title": shown.locator("title").first.text_content(), "links": links, **watch.take()}


def links(chromium, job):
    page = chromium.new_context().new_page()
    found = {}
    for path in job["paths"]:
        page.goto(job["base"] + path, wait_until="networkidle")
        page.evaluate(CALM)
        found[path] = sorted(set(page.evaluate(DOCUMENT_LINKS)))
    return found


# The focus is on a link, and then a text is selected, when the next piece comes.
HELD = """() => {
    const focused = () => document.activeElement.getAttribute('href');
    live.querySelector('a[href]').focus();
    const before = focused();
    renew(live, live.innerHTML);
    const after = focused();
    renew(live, '<p>gone</p>');
    const within = document.activeElement === live;
    document.getSelection().selectAllChildren(live);
    renew(live, '<p>more</p>');
    const kept = live.textContent;
    document.getSelection().removeAllRanges();
    renew(live, '<p>more</p>');
    return { before, after, within, kept, then: live.textContent };
}"""


def hold(chromium, job):
    page = chromium.new_context().new_page()
    watch = Watch(page, job["base"])
    log_in(page, job["base"], job["account"])
    page.goto(job["base"] + job["path"])
    return {**page.evaluate(HELD), **watch.take()}


JOBS = {"walk": walk, "story": story, "replay": replay, "links": links, "hold": hold}

if __name__ == "__main__":
    with open(sys.argv[2], encoding="utf-8") as file:
        wanted = json.load(file)
    with sync_playwright() as tools:
        chromium = tools.chromium.launch(executable_path=wanted["chromium"], args=ALONE)
        print(json.dumps(JOBS[sys.argv[1]](chromium, wanted)))
        chromium.close()
