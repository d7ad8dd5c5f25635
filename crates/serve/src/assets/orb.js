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
