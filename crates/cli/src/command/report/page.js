'use strict';
// Rows that are put into the table at once.
const PIECE = 100;
const NAMES = { NEW: 'new', UPD: 'updated', MIS: 'missing', ERR: 'failed', SAM: 'the same' };
const rows = JSON.parse(document.getElementById('rows').textContent);
const byId = (id) => document.getElementById(id);
const body = document.querySelector('#documents > tbody');
const find = byId('find'), order = byId('order'), more = byId('more');
const present = Object.keys(NAMES).filter((flag) => rows.some((row) => row.flag === flag));
let passing = [], drawn = 0;

function make(name, options = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(options)) {
    if (key === 'class') element.className = value;
    else element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

// An address that may be followed; whatever else a page calls its address stays text.
function link(url) {
  if (!/^https?:\/\//i.test(url)) return document.createTextNode(url);
  return make('a', { class: 'address', href: url, rel: 'noreferrer noopener nofollow' }, url);
}

// A side of a line: its text, every second part of which is different.
function side(text, mark) {
  if (text === null) return [''];
  if (typeof text === 'string') return [text];
  return text.map((part, n) => n % 2 ? make(mark, {}, part) : part);
}

function versions(row) {
  const lines = row.diff.lines.map(([left, before, right, after]) => {
    if (left === null && right === null) {
      return make('tr', { class: 'gap' }, make('td', { colspan: '4' }, after ?? '⋯'));
    }
    const same = before !== null && before === after;
    const cell = (text, kind, mark, word) => {
      const spoken = same || text === null ? [] : [make('span', { class: 'quiet' }, word)];
      return make('td', { class: same || text === null ? '' : kind }, ...spoken, ...side(text, mark));
    };
    return make('tr', {}, make('td', { class: 'line' }, left === null ? '' : String(left)), cell(before, 'less', 'del', 'before: '),
      make('td', { class: 'line' }, right === null ? '' : String(right)), cell(after, 'more', 'ins', 'after: '));
  });
  const columns = make('colgroup', {}, make('col', { class: 'line' }), make('col'), make('col', { class: 'line' }), make('col'));
  const head = make('thead', {}, make('tr', {}, make('th', { scope: 'col', colspan: '2' }, `Before: run ${row.run_before ?? '?'}`),
    make('th', { scope: 'col', colspan: '2' }, `After: run ${row.run}`)));
  const caption = make('caption', { class: 'quiet' }, `What ${row.url} said before and says now`);
  return make('table', {}, caption, columns, head, make('tbody', {}, ...lines));
}

function open(button, row, line) {
  const there = button.getAttribute('aria-expanded') === 'true';
  button.setAttribute('aria-expanded', String(!there));
  button.textContent = there ? 'Compare' : 'Close';
  if (there) return line.nextSibling.remove();
  const inside = make('td', { colspan: '4', class: 'versions' }, versions(row));
  line.after(make('tr', { id: button.getAttribute('aria-controls') }, inside));
}

function difference(row, line) {
  const said = make('td');
  if (row.detail) said.append(make('span', {}, row.detail));
  if (row.moved_to) said.append(make('span', { class: 'moved' }, 'moved to ', link(row.moved_to)));
  if (row.diff && row.diff.note) said.append(make('span', { class: 'moved' }, row.diff.note));
  if (row.diff && row.diff.lines) {
    const button = make('button', { type: 'button', 'aria-expanded': 'false', 'aria-controls': `versions-${row.seq}`, 'aria-label': `Compare the versions of ${row.url}` }, 'Compare');
    button.addEventListener('click', () => open(button, row, line));
    line.addEventListener('keydown', (event) => {
      if (event.key === 'Escape' && button.getAttribute('aria-expanded') === 'true') { open(button, row, line); button.focus(); }
    });
    said.append(row.detail || row.moved_to ? ' ' : '', button);
  }
  return said;
}

function draw(row) {
  const line = make('tr', { class: row.flag });
  const flag = make('td', {}, make('abbr', { class: 'flag', title: NAMES[row.flag] }, row.flag));
  const title = row.title && row.title.trim() ? [make('span', { class: 'title' }, row.title)] : [];
  line.append(flag, make('td', {}, ...title, link(row.url)), difference(row, line), make('td', {}, row.at.slice(0, 19).replace('T', ' ')));
  return line;
}

function piece() {
  const next = passing.slice(drawn, drawn + PIECE);
  body.append(...next.map(draw));
  drawn += next.length;
  more.hidden = drawn >= passing.length;
  more.textContent = `${Math.min(PIECE, passing.length - drawn)} more of ${passing.length - drawn}`;
}

const ORDERS = {
  url: (a, b) => a.url < b.url ? -1 : 1,
  title: (a, b) => (a.title ?? a.url).localeCompare(b.title ?? b.url),
  at: (a, b) => a.at < b.at ? 1 : -1,
};

function filter() {
  const flags = new Set([...document.querySelectorAll('#flags input:checked')].map((box) => box.value));
  const words = find.value.trim().toLowerCase();
  const holds = (row) => [row.url, row.title, row.detail, row.moved_to].some((text) => text && text.toLowerCase().includes(words));
  passing = rows.filter((row) => flags.has(row.flag) && (!words || holds(row)));
  if (ORDERS[order.value]) passing = [...passing].sort(ORDERS[order.value]);
  body.replaceChildren();
  drawn = 0;
  piece();
  byId('nothing').hidden = passing.length > 0;
  byId('documents').hidden = passing.length === 0;
  byId('shown').textContent = `${passing.length.toLocaleString('en')} of ${rows.length.toLocaleString('en')} documents`;
}

// The filters are kept in the address, so that a view can be passed on: #flag=UPD,MIS&find=news&open=12
function remember() {
  const said = new URLSearchParams();
  const boxes = [...document.querySelectorAll('#flags input')];
  if (boxes.some((box) => !box.checked)) said.set('flag', boxes.filter((box) => box.checked).map((box) => box.value).join(','));
  if (find.value) said.set('find', find.value);
  if (order.value) said.set('order', order.value);
  history.replaceState(null, '', `#${said}`);
}

function begin() {
  const said = new URLSearchParams(location.hash.slice(1));
  const wanted = said.has('flag') ? said.get('flag').split(',') : present;
  for (const flag of present) {
    const box = make('input', { type: 'checkbox', value: flag });
    box.checked = wanted.includes(flag);
    const count = rows.filter((row) => row.flag === flag).length;
    byId('flags').append(make('label', { class: flag }, box, ' ', make('span', { class: 'flag' }, flag), ` ${count.toLocaleString('en')}`));
  }
  find.value = said.get('find') ?? '';
  if (ORDERS[said.get('order')]) order.value = said.get('order');
  byId('filters').addEventListener('input', () => { filter(); remember(); });
  byId('filters').addEventListener('submit', (event) => event.preventDefault());
  more.addEventListener('click', () => {
    const first = drawn;
    piece();
    body.querySelectorAll('tr:not([id])')[first]?.querySelector('a, button')?.focus();
  });
  byId('shade').addEventListener('click', () => {
    const root = document.documentElement;
    const dark = root.dataset.shade ? root.dataset.shade === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
    root.dataset.shade = dark ? 'light' : 'dark';
  });
  document.addEventListener('keydown', (event) => {
    if (event.key === '/' && !event.ctrlKey && !event.metaKey && document.activeElement !== find) { event.preventDefault(); find.focus(); }
  });
  filter();
  const asked = said.get('open');
  if (asked) body.querySelector(`[aria-controls="versions-${Number(asked)}"]`)?.click();
  document.documentElement.dataset.ready = 'yes';
}

begin();
