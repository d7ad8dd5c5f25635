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

// A part of a page that names a stream of events is kept up to date, while somebody looks.
const live = document.querySelector("[data-events]");
if (live) {
  let source = null;
  const close = () => { source?.close(); source = null; };
  const open = () => {
    if (source || document.hidden) return;
    source = new EventSource(live.dataset.events);
    source.addEventListener("piece", (event) => { live.innerHTML = event.data; });
    source.addEventListener("end", () => { close(); location.reload(); });
  };
  document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
  open();
}
