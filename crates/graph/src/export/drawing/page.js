const $ = id => document.getElementById(id);
const graph = JSON.parse($("graph").textContent);
const nodes = graph.nodes, arcs = [], into = nodes.map(() => []), out = nodes.map(() => []);
for (let i = 0; i < graph.arcs.length; i += 2) {
  const [a, b] = [graph.arcs[i], graph.arcs[i + 1]];
  out[a].push(b); into[b].push(a);
  if (a !== b) arcs.push([a, b]);
}
const PALETTE = ["#3b7dd8", "#e07b39", "#3a9d5d", "#b5559c", "#c9a227", "#20a4a4", "#d1495b", "#7a6ad8", "#8a6d3b", "#6b8e23", "#4f6d7a", "#b56576"];
const colour = h => h < PALETTE.length ? PALETTE[h] : "#8d929b";
const SIZES = [["p", "PageRank"], ["i", "Backlinks"], ["o", "Links out"], ["a", "Authority"], ["u", "Hub"], ["m", "Harmonic"]].filter(([k]) => nodes.some(v => v[k] > 0));
const canvas = $("canvas"), pen = canvas.getContext("2d");
const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
const layout = new Layout(nodes, arcs, graph.hosts.length || 1);
const view = { x: 0, y: 0, scale: 1, width: 0, height: 0 };
let chosen = -1, over = -1, host = -1, held = calm, touched = false, by = (SIZES[0] || ["p"])[0], radius = [], ranked = [];

// Titles of a site mostly end alike ("… — Some Documentation"): what at least three pages and a third of the host's titles share is left out.
const endings = new Map(), ending = v => (v.t && v.t.match(/\s[—–|·:-]\s[^—–|·]*$/) || [""])[0];
for (const v of nodes) { const key = v.h + ending(v); endings.set(key, (endings.get(key) || 0) + 1); }
const titled = graph.hosts.map((_, h) => nodes.filter(v => v.h === h && v.t).length);
const common = v => { const count = endings.get(v.h + ending(v)); return count >= 3 && count * 3 >= titled[v.h]; };
const name = v => v.t ? (common(v) ? v.t.slice(0, v.t.length - ending(v).length).trim() || v.t : v.t) : v.n.replace(/^https?:\/\//, "");
const short = (text, most) => text.length > most ? text.slice(0, most - 1) + "…" : text;
const figure = x => x === undefined || x === null ? "–" : x !== 0 && Math.abs(x) < 1 ? Number(x.toPrecision(3)).toString() : (Math.round(x * 100) / 100).toLocaleString("en");
function element(tag, text, more = {}) { const e = document.createElement(tag); if (text !== undefined) e.textContent = text; return Object.assign(e, more); }

function measure() {
  const most = Math.max(...nodes.map(v => v[by] || 0), 1e-300);
  const room = Math.min(1, Math.sqrt(250 / nodes.length) + .25);
  radius = nodes.map(v => (3.5 + 19 * Math.sqrt((v[by] || 0) / most)) * room);
  ranked = [...nodes.keys()].sort((a, b) => (nodes[b][by] || 0) - (nodes[a][by] || 0) || a - b);
  layout.reach.set(radius);
}
let tones = {};
const ink = property => tones[property] || (tones[property] = getComputedStyle(document.documentElement).getPropertyValue(property).trim());
const place = i => [(layout.x[i] - view.x) * view.scale + view.width / 2, (layout.y[i] - view.y) * view.scale + view.height / 2];
const drawn = i => radius[i] * Math.min(Math.max(Math.sqrt(view.scale), .5), 2.2);

function lit(i) {
  if (host >= 0) return nodes[i].h === host;
  const at = over >= 0 ? over : chosen;
  return at < 0 || i === at || out[at].includes(i) || into[at].includes(i);
}
function draw() {
  tones = {};
  const ratio = devicePixelRatio || 1, at = over >= 0 ? over : chosen;
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, view.width, view.height);
  const shown = nodes.map((_, i) => lit(i)), quiet = at >= 0 || host >= 0;
  const strength = Math.max(.07, Math.min(.5, 60 / Math.sqrt(arcs.length + 1) / 10));
  pen.lineWidth = 1;
  for (const [a, b] of arcs) {
    const bright = at >= 0 ? a === at || b === at : host >= 0 ? shown[a] && shown[b] : false;
    pen.globalAlpha = bright ? .75 : quiet ? strength * .25 : strength;
    pen.strokeStyle = bright && at >= 0 ? (a === at ? ink("--focus") : ink("--mark")) : colour(nodes[a].h);
    line(a, b, bright);
  }
  for (let k = ranked.length - 1; k >= 0; k--) disc(ranked[k], shown[ranked[k]] ? 1 : .18);
  labels(shown, at);
}
function line(a, b, arrow) {
  const [ax, ay] = place(a), [bx, by2] = place(b);
  if (Math.max(ax, bx) < 0 || Math.max(ay, by2) < 0 || Math.min(ax, bx) > view.width || Math.min(ay, by2) > view.height) return;
  const d = Math.hypot(bx - ax, by2 - ay) || 1, ux = (bx - ax) / d, uy = (by2 - ay) / d;
  const ex = bx - ux * drawn(b), ey = by2 - uy * drawn(b), bend = Math.min(d * .12, 30);
  const mx = (ax + bx) / 2 - uy * bend, my = (ay + by2) / 2 + ux * bend;
  pen.beginPath(); pen.moveTo(ax, ay); pen.quadraticCurveTo(mx, my, ex, ey); pen.stroke();
  if (!arrow) return;
  const turn = Math.atan2(ey - my, ex - mx);
  pen.beginPath(); pen.moveTo(ex, ey);
  for (const side of [-.4, .4]) pen.lineTo(ex - 8 * Math.cos(turn + side), ey - 8 * Math.sin(turn + side));
  pen.closePath(); pen.fillStyle = pen.strokeStyle; pen.fill();
}
function disc(i, alpha) {
  const [x, y] = place(i), r = drawn(i);
  if (x < -r || y < -r || x > view.width + r || y > view.height + r) return;
  pen.globalAlpha = alpha; pen.beginPath(); pen.arc(x, y, r, 0, 7);
  pen.fillStyle = colour(nodes[i].h); pen.fill();
  pen.strokeStyle = ink(i === chosen ? "--ink" : "--paper"); pen.lineWidth = i === chosen ? 3 : 1.2; pen.stroke();
}
// The names of the best, as many as find room.
function labels(shown, at) {
  const taken = [], paper = ink("--paper"), dark = ink("--ink");
  pen.font = "12.5px system-ui, 'DejaVu Sans', sans-serif"; pen.textBaseline = "middle"; pen.lineJoin = "round";
  const near = at >= 0 ? [at, ...ranked.filter(i => i !== at && shown[i])] : ranked.filter(i => shown[i]);
  let room = at >= 0 || host >= 0 ? 60 : Math.min(90, 26 * view.scale * view.scale + 14);
  for (const i of near) {
    if (room <= 0) break;
    const text = short(name(nodes[i]), 34), [x, y] = place(i), r = drawn(i), w = pen.measureText(text).width;
    const box = [x + r + 3, y - 8, x + r + 5 + w, y + 8];
    if (box[0] > view.width || box[2] < 0 || box[1] > view.height || box[3] < 0) continue;
    if (taken.some(t => t[0] < box[2] && box[0] < t[2] && t[1] < box[3] && box[1] < t[3])) continue;
    taken.push(box); room--;
    pen.globalAlpha = .85; pen.strokeStyle = paper; pen.lineWidth = 4; pen.strokeText(text, box[0], y);
    pen.globalAlpha = 1; pen.fillStyle = dark; pen.fillText(text, box[0], y);
  }
}

function fit() {
  if (!nodes.length) return;
  let lx = Infinity, ly = Infinity, hx = -Infinity, hy = -Infinity;
  nodes.forEach((_, i) => { const r = radius[i]; lx = Math.min(lx, layout.x[i] - r); ly = Math.min(ly, layout.y[i] - r); hx = Math.max(hx, layout.x[i] + r); hy = Math.max(hy, layout.y[i] + r); });
  view.x = (lx + hx) / 2; view.y = (ly + hy) / 2;
  view.scale = Math.min(4, .9 * Math.min(view.width / (hx - lx + 60), view.height / (hy - ly + 60)));
}
function resize() {
  const ratio = devicePixelRatio || 1, box = canvas.getBoundingClientRect();
  view.width = box.width; view.height = box.height;
  canvas.width = Math.round(box.width * ratio); canvas.height = Math.round(box.height * ratio);
  if (!touched) fit();
  paint();
}
let asked = false;
function paint() { if (!asked) { asked = true; requestAnimationFrame(() => { asked = false; draw(); }); } }
function tick() {
  if (!held && layout.heat > .015) { layout.step(); if (!touched) fit(); draw(); }
  requestAnimationFrame(tick);
}
function zoom(factor, x = view.width / 2, y = view.height / 2) {
  const next = Math.min(Math.max(view.scale * factor, .02), 12), k = 1 / view.scale - 1 / next;
  view.x += (x - view.width / 2) * k; view.y += (y - view.height / 2) * k; view.scale = next; touched = true; paint();
}
function at(x, y) {
  let best = -1, least = Infinity;
  for (const i of ranked) { const [px, py] = place(i), d = Math.hypot(px - x, py - y); if (d < drawn(i) + 4 && d < least) { best = i; least = d; } }
  return best;
}

function choose(i, centre) {
  chosen = i; $("details").hidden = i < 0;
  if (i < 0) { paint(); return; }
  const v = nodes[i], panel = $("details");
  panel.replaceChildren(element("button", "×", { className: "close", ariaLabel: "Close", onclick: () => { choose(-1); canvas.focus(); } }));
  panel.append(element("h2", v.t || name(v)));
  if (/^https?:/.test(v.n)) panel.append(element("a", v.n, { href: v.n, target: "_blank", rel: "noreferrer noopener" })); else panel.append(element("p", v.n));
  // A server has a page for each of them, and a drawing around it.
  if (graph.base) { const more = element("p"); more.append(element("a", "Its record", { href: graph.base + v.k })); if (graph.around) more.append(" · ", element("a", "Draw around it", { href: graph.around + v.k })); panel.append(more); }
  const facts = element("dl");
  for (const [label, value] of [["PageRank", figure(v.p)], ["Place by PageRank", v.p === undefined ? "–" : "" + (1 + nodes.filter(w => w.p > v.p).length)], ["Backlinks in the whole graph", figure(v.i)], ["Links out in the whole graph", figure(v.o)], ["Hub", figure(v.u)], ["Authority", figure(v.a)], ["Harmonic centrality", figure(v.m)], ["Bow-tie", v.b || "–"]]) facts.append(element("dt", label), element("dd", value));
  panel.append(facts, ...neighbours("Linked from", into[i]), ...neighbours("Links to", out[i]));
  panel.scrollTop = 0;
  $("spoken").textContent = `${name(v)}, ${into[i].length} links to it and ${out[i].length} from it in this drawing`;
  if (centre) { view.x = layout.x[i]; view.y = layout.y[i]; view.scale = Math.max(view.scale, 1); touched = true; view.x += aside(panel) / 2 / view.scale; }
  paint();
}
// How much of the drawing's width the panel covers.
function aside(panel) { return panel.offsetWidth < view.width / 2 ? panel.offsetWidth : 0; }
function neighbours(title, list) {
  const items = element("ul"), order = [...list].sort((a, b) => (nodes[b][by] || 0) - (nodes[a][by] || 0));
  for (const j of order.slice(0, 200)) { const item = element("li"); item.append(element("button", name(nodes[j]), { title: nodes[j].n, onclick: () => choose(j, true), onmouseenter: () => { over = j; paint(); }, onmouseleave: () => { over = -1; paint(); } })); items.append(item); }
  return [element("h3", `${title} (${list.length} here)`), items];
}

function legend() {
  const counts = graph.hosts.map(() => 0);
  nodes.forEach(v => counts[v.h]++);
  graph.hosts.slice(0, PALETTE.length).forEach((label, h) => {
    const row = element("button", undefined, { title: label, onclick: () => { host = host === h ? -1 : h; [...$("legend").children].forEach((b, k) => b.setAttribute("aria-pressed", k === host)); paint(); } });
    const spot = element("i"); spot.style.background = colour(h);
    row.setAttribute("aria-pressed", "false"); row.append(spot, element("span", label), element("b", counts[h])); $("legend").append(row);
  });
  const rest = graph.hosts.length - PALETTE.length;
  if (rest > 0) { const row = element("button", undefined, { disabled: true }), spot = element("i"); spot.style.background = colour(99); row.append(spot, element("span", `${rest} other hosts`), element("b", counts.slice(PALETTE.length).reduce((a, b) => a + b, 0))); $("legend").append(row); }
}
function table() {
  const box = $("list").lastElementChild;
  $("list").addEventListener("toggle", () => {
    if (!$("list").open || box.firstChild) return;
    const t = element("table"), head = element("tr");
    for (const [label, number] of [["Page"], ["Address"], ["PageRank", 1], ["Backlinks", 1], ["Links out", 1]]) head.append(element("th", label, { className: number ? "number" : "", scope: "col" }));
    t.append(head);
    for (const i of ranked) { const v = nodes[i], row = element("tr"), cell = element("td"); cell.append(element("button", short(name(v), 80), { onclick: () => { choose(i, true); canvas.focus(); } })); row.append(cell, element("td", v.n)); for (const k of ["p", "i", "o"]) row.append(element("td", figure(v[k]), { className: "number" })); t.append(row); }
    box.append(t);
  });
}
function search() {
  const box = $("find"), list = $("found");
  let hits = [], mark = 0;
  const show = () => {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    hits = words.length ? ranked.filter(i => { const text = (nodes[i].n + " " + (nodes[i].t || "")).toLowerCase(); return words.every(w => text.includes(w)); }).slice(0, 12) : [];
    mark = 0; list.replaceChildren(...hits.map((i, k) => { const item = element("li", short(name(nodes[i]), 60), { id: "hit" + k, role: "option", onmousedown: e => { e.preventDefault(); pick(i); } }); item.append(element("small", short(nodes[i].n, 60))); return item; }));
    list.hidden = !hits.length; box.setAttribute("aria-expanded", !!hits.length); point();
    $("spoken").textContent = words.length ? `${hits.length} pages found` : "";
  };
  const point = () => { [...list.children].forEach((item, k) => item.setAttribute("aria-selected", k === mark)); if (hits.length) box.setAttribute("aria-activedescendant", "hit" + mark); else box.removeAttribute("aria-activedescendant"); };
  const pick = i => { list.hidden = true; box.setAttribute("aria-expanded", "false"); choose(i, true); canvas.focus(); };
  box.addEventListener("input", show);
  box.addEventListener("blur", () => { list.hidden = true; });
  box.addEventListener("keydown", e => {
    if (e.key === "ArrowDown" || e.key === "ArrowUp") { mark = (mark + (e.key === "ArrowDown" ? 1 : hits.length - 1)) % (hits.length || 1); point(); e.preventDefault(); }
    else if (e.key === "Enter" && hits.length) pick(hits[mark]);
    else if (e.key === "Escape") { box.value = ""; show(); canvas.focus(); }
  });
}

// The nearest page in the direction of an arrow key.
function towards(dx, dy) {
  if (chosen < 0) return ranked[0];
  let best = chosen, least = Infinity;
  for (const i of ranked) {
    const x = layout.x[i] - layout.x[chosen], y = layout.y[i] - layout.y[chosen], along = x * dx + y * dy;
    if (i === chosen || along <= 0) continue;
    const far = along + 2.5 * Math.abs(x * dy - y * dx);
    if (far < least) { least = far; best = i; }
  }
  return best;
}
function seen(i) { const [x, y] = place(i); return x > 20 && y > 20 && x < view.width - 20 && y < view.height - 20; }
function go(i) { if (i !== undefined && i >= 0) choose(i, !seen(i)); }
function keys() {
  const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  canvas.addEventListener("keydown", e => {
    const place = ranked.indexOf(chosen);
    if (arrows[e.key]) go(towards(...arrows[e.key]));
    else if (e.key === "Tab" && !e.shiftKey && place + 1 < ranked.length && chosen >= 0) go(ranked[place + 1]);
    else if (e.key === "Tab" && e.shiftKey && place > 0) go(ranked[place - 1]);
    else if (e.key === "Enter" && chosen >= 0) $("details").querySelector("a, button").focus();
    else if (e.key === "Enter") go(ranked[0]);
    else if (e.key === "Escape") choose(-1);
    else if (e.key === "+" || e.key === "=") zoom(1.3);
    else if (e.key === "-") zoom(1 / 1.3);
    else if (e.key === "0") { touched = false; fit(); paint(); }
    else if (e.key === " ") $("still").click();
    else return;
    e.preventDefault();
  });
  $("details").addEventListener("keydown", e => { if (e.key === "Escape") { choose(-1); canvas.focus(); } });
  addEventListener("keydown", e => { if (e.key === "/" && document.activeElement !== $("find")) { $("find").focus(); e.preventDefault(); } });
}
function pointer() {
  const fingers = new Map();
  let drag = null;
  const spot = e => { const box = canvas.getBoundingClientRect(); return [e.clientX - box.left, e.clientY - box.top]; };
  canvas.addEventListener("pointerdown", e => {
    const [x, y] = spot(e), node = at(x, y);
    fingers.set(e.pointerId, [x, y]); canvas.setPointerCapture(e.pointerId);
    drag = { x, y, node, moved: false };
    if (node >= 0) layout.held[node] = 1; else canvas.classList.add("moving");
  });
  canvas.addEventListener("pointermove", e => {
    const [x, y] = spot(e);
    if (fingers.size === 2 && fingers.has(e.pointerId)) { pinch(e.pointerId, x, y); return; }
    if (!drag) { hover(at(x, y), x, y); return; }
    if (!drag.moved && Math.hypot(x - drag.x, y - drag.y) < 4) return;
    drag.moved = true;
    const dx = (x - drag.x) / view.scale, dy = (y - drag.y) / view.scale;
    if (drag.node >= 0) { layout.x[drag.node] += dx; layout.y[drag.node] += dy; layout.heat = Math.max(layout.heat, held ? 0 : .25); } else { view.x -= dx; view.y -= dy; }
    touched = true; drag.x = x; drag.y = y; paint();
  });
  const pinch = (id, x, y) => {
    const other = [...fingers].find(([k]) => k !== id)[1], was = fingers.get(id);
    const before = Math.hypot(was[0] - other[0], was[1] - other[1]), now = Math.hypot(x - other[0], y - other[1]);
    fingers.set(id, [x, y]); drag = null;
    if (before > 0) zoom(now / before, (x + other[0]) / 2, (y + other[1]) / 2);
  };
  const up = e => {
    fingers.delete(e.pointerId); canvas.classList.remove("moving");
    if (drag && drag.node >= 0) layout.held[drag.node] = 0;
    if (drag && !drag.moved && e.type === "pointerup") choose(drag.node, false);
    drag = null;
  };
  canvas.addEventListener("pointerup", up); canvas.addEventListener("pointercancel", up);
  canvas.addEventListener("pointerleave", () => hover(-1));
  canvas.addEventListener("dblclick", e => { const i = at(...spot(e)); if (i >= 0) choose(i, true); else zoom(1.6, ...spot(e)); });
  canvas.addEventListener("wheel", e => { e.preventDefault(); zoom(Math.exp(-e.deltaY * (e.deltaMode ? .05 : .0015)), ...spot(e)); }, { passive: false });
}
function hover(i, x, y) {
  const tip = $("tip");
  if (i !== over) { over = i; canvas.classList.toggle("over", i >= 0); paint(); }
  tip.hidden = i < 0;
  if (i < 0) return;
  const v = nodes[i];
  tip.replaceChildren(name(v), element("small", short(v.n, 120)), element("small", `PageRank ${figure(v.p)} · ${figure(v.i)} backlinks`));
  tip.style.left = Math.max(4, Math.min(x + 14, view.width - tip.offsetWidth - 8)) + "px"; tip.style.top = Math.max(4, Math.min(y + 14, view.height - tip.offsetHeight - 8)) + "px";
}
function tools() {
  for (const [k, label] of SIZES) $("size").append(element("option", label, { value: k }));
  $("size").addEventListener("change", e => { by = e.target.value; measure(); layout.heat = Math.max(layout.heat, .2); paint(); });
  $("closer").onclick = () => zoom(1.4); $("farther").onclick = () => zoom(1 / 1.4);
  $("whole").onclick = () => { touched = false; fit(); paint(); };
  $("still").onclick = () => { held = !held; $("still").setAttribute("aria-pressed", held); if (!held) layout.heat = Math.max(layout.heat, .3); };
  $("shade").onclick = () => { const root = document.documentElement, dark = root.dataset.shade ? root.dataset.shade === "dark" : matchMedia("(prefers-color-scheme: dark)").matches; root.dataset.shade = dark ? "light" : "dark"; paint(); };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paint);
}
$("summary").textContent = graph.about;
measure(); tools(); legend(); table(); search(); keys(); pointer();
$("still").setAttribute("aria-pressed", held);
// Most of the way before it is first seen; the rest is watched, unless motion is unwanted.
for (const end = performance.now() + 2500; layout.heat > (calm ? .015 : .12) && performance.now() < end;) layout.step();
// The page named behind the # is chosen from the start.
function named() { const wish = decodeURIComponent(location.hash.slice(1)), i = wish ? nodes.findIndex(v => v.n === wish) : -1; if (i >= 0) choose(i, true); }
addEventListener("resize", resize); addEventListener("hashchange", named);
resize(); named();
requestAnimationFrame(tick);
document.documentElement.dataset.ready = "yes";
