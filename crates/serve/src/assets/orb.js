// What pages do beyond links and forms. Everything works without it.
"use strict";

// "/" goes to the search box, as in most search pages.
document.addEventListener("keydown", (event) => {
  const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName ?? "");
  if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
  const search = document.querySelector("input[type=search]");
  if (search) {
    event.preventDefault();
    search.focus();
  }
});

// A form that removes something asks first.
document.addEventListener("submit", (event) => {
  const question = event.submitter?.dataset.sure ?? event.target.dataset.sure;
  if (question && !window.confirm(question)) event.preventDefault();
});

// A page that waits for something looks again, unless somebody is about to send a form of it.
const again = document.querySelector("meta[name=again]");
if (again) {
  setInterval(() => {
    if (!document.hidden && !document.activeElement?.closest("form")) location.reload();
  }, again.content * 1000);
}

// Puts a piece in the place of the one before, and leaves the reader what they hold of it: a
// selection, the focus, how far they have scrolled sideways.
const renew = (part, html) => {
  const selected = document.getSelection();
  if (!selected.isCollapsed && part.contains(selected.anchorNode)) return;
  const held = part.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
  const scrolled = [...part.querySelectorAll(".scroll")].map((card) => card.scrollLeft);
  part.innerHTML = html;
  part.querySelectorAll(".scroll").forEach((card, place) => { card.scrollLeft = scrolled[place] ?? 0; });
  if (held === null) return;
  const same = [...part.querySelectorAll("a")].find((link) => link.getAttribute("href") === held);
  (same ?? part).focus({ preventScroll: true });
};

// A part of a page that names a stream of events is kept up to date, while somebody looks.
const live = document.querySelector("[data-events]");
if (live) {
  let source = null;
  const close = () => { source?.close(); source = null; };
  const open = () => {
    if (source || document.hidden) return;
    source = new EventSource(live.dataset.events);
    source.addEventListener("piece", (event) => renew(live, event.data));
    source.addEventListener("end", () => { close(); location.reload(); });
  };
  document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
  open();
}

// A search box offers how its words may end.
for (const box of document.querySelectorAll("input[data-complete]")) {
  const list = document.createElement("datalist");
  list.id = "completions";
  box.after(list);
  box.setAttribute("list", list.id);
  let waiting;
  box.addEventListener("input", () => {
    clearTimeout(waiting);
    const text = box.value;
    if (text.trim().length < 2) return;
    waiting = setTimeout(async () => {
      const answer = await fetch(`${box.dataset.complete}?limit=8&q=${encodeURIComponent(text)}`);
      if (!answer.ok || box.value !== text) return;
      const found = await answer.json();
      list.replaceChildren(...found.map(({ text }) => new Option(text, text)));
    }, 150);
  });
}

// "n" and "p" go to the next and the previous difference.
document.addEventListener("keydown", (event) => {
  const step = { n: 1, p: -1 }[event.key];
  const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName ?? "");
  if (!step || typing || event.ctrlKey || event.metaKey || event.altKey) return;
  const rows = [...document.querySelectorAll(".diff .changed, .diff .added, .diff .removed")];
  const starts = rows.filter((row) => !rows.includes(row.previousElementSibling));
  const middle = window.innerHeight / 2;
  const below = (row) => row.getBoundingClientRect().top > middle + 4;
  const above = (row) => row.getBoundingClientRect().top < middle - 4;
  const next = step > 0 ? starts.find(below) : starts.filter(above).pop();
  next?.scrollIntoView({ block: "center" });
});

// Where places do not fit in a row, the one we are at is in sight.
for (const here of document.querySelectorAll("nav [aria-current]")) {
  const row = here.parentElement;
  if (here.offsetLeft - row.offsetLeft + here.offsetWidth < row.clientWidth - 28) continue;
  row.scrollLeft = here.offsetLeft - row.offsetLeft - (row.clientWidth - here.offsetWidth) / 2;
}
