"use strict";
// Where does every page stand? Springs along the links, repulsion between all pages (Barnes and Hut's tree: far groups count as one),
// a weak pull of each page to the middle of its host's pages, and a weaker one to the middle of the drawing.
// (Fruchterman and Reingold 1991 for the forces, Barnes and Hut 1986 for the tree.)
class Layout {
  constructor(nodes, arcs, hosts) {
    const n = nodes.length;
    this.n = n; this.hosts = hosts; this.host = nodes.map(v => v.h);
    this.x = new Float64Array(n); this.y = new Float64Array(n);
    this.vx = new Float64Array(n); this.vy = new Float64Array(n);
    this.held = new Uint8Array(n); this.reach = new Float64Array(n).fill(6);
    this.arcs = arcs; this.degree = new Float64Array(n);
    for (const [a, b] of arcs) { this.degree[a]++; this.degree[b]++; }
    this.heat = 1; this.gap = 34;
    this.begin();
  }
  // Hosts on a spiral, the largest in the middle; the pages of a host on a spiral around its place.
  begin() {
    const turn = Math.PI * (3 - Math.sqrt(5)), at = new Array(this.hosts).fill(0), size = new Array(this.hosts).fill(0);
    for (const h of this.host) size[h]++;
    const order = [...size.keys()].sort((a, b) => size[b] - size[a]), place = [];
    let before = 0;
    order.forEach((h, i) => { const r = i ? this.gap * 1.1 * Math.sqrt(before + size[h]) : 0; place[h] = [r * Math.cos(i * turn), r * Math.sin(i * turn)]; before += size[h]; });
    for (let i = 0; i < this.n; i++) {
      const h = this.host[i], k = at[h]++, r = this.gap * .7 * Math.sqrt(k + .3);
      this.x[i] = place[h][0] + r * Math.cos(k * turn); this.y[i] = place[h][1] + r * Math.sin(k * turn);
    }
  }
  // A tree of squares over the pages, in flat arrays: children, mass, and middle of each square.
  plant() {
    const { x, y, n } = this;
    let lx = Infinity, ly = Infinity, hx = -Infinity, hy = -Infinity;
    for (let i = 0; i < n; i++) { lx = Math.min(lx, x[i]); ly = Math.min(ly, y[i]); hx = Math.max(hx, x[i]); hy = Math.max(hy, y[i]); }
    const side = Math.max(hx - lx, hy - ly, 1) * 1.0001;
    const t = { kids: [-1, -1, -1, -1], mass: [0], mx: [0], my: [0], one: [-1], side, lx, ly };
    for (let i = 0; i < n; i++) this.put(t, i);
    for (let c = 0; c < t.mass.length; c++) if (t.mass[c]) { t.mx[c] /= t.mass[c]; t.my[c] /= t.mass[c]; }
    return t;
  }
  put(t, i) {
    let cell = 0, cx = t.lx, cy = t.ly, s = t.side;
    const quarter = (j, s2) => (this.x[j] >= cx + s2 ? 1 : 0) | (this.y[j] >= cy + s2 ? 2 : 0);
    for (let depth = 0; ; depth++) {
      const alone = t.mass[cell] === 1 ? t.one[cell] : -1;
      t.mass[cell]++; t.mx[cell] += this.x[i]; t.my[cell] += this.y[i];
      if (t.mass[cell] === 1) { t.one[cell] = i; return; }
      if (depth > 40) return;
      s /= 2;
      if (alone >= 0) { const k = this.kid(t, cell, quarter(alone, s)); t.mass[k] = 1; t.mx[k] = this.x[alone]; t.my[k] = this.y[alone]; t.one[k] = alone; }
      const q = quarter(i, s);
      cell = this.kid(t, cell, q);
      if (q & 1) cx += s;
      if (q & 2) cy += s;
    }
  }
  kid(t, cell, q) {
    let k = t.kids[cell * 4 + q];
    if (k < 0) { k = t.mass.length; t.kids[cell * 4 + q] = k; t.kids.push(-1, -1, -1, -1); t.mass.push(0); t.mx.push(0); t.my.push(0); t.one.push(-1); }
    return k;
  }
  repel(t, i) {
    const stack = [0, t.side], force = this.gap * this.gap * 1.6;
    while (stack.length) {
      const s = stack.pop(), c = stack.pop();
      if (!t.mass[c]) continue;
      let dx = this.x[i] - t.mx[c], dy = this.y[i] - t.my[c], d2 = dx * dx + dy * dy;
      if (t.mass[c] === 1 || s * s < .8 * d2 || s < .01) {
        if (t.one[c] === i && t.mass[c] === 1) continue;
        if (d2 < .01) { dx = Math.cos(i) * .1; dy = Math.sin(i) * .1; d2 = .01; }
        const f = force * t.mass[c] / Math.max(d2, 9);
        this.vx[i] += dx * f * .02; this.vy[i] += dy * f * .02;
        // Two pages do not lie on each other.
        const apart = t.mass[c] === 1 ? this.reach[i] + this.reach[t.one[c]] + 5 : 0;
        if (d2 < apart * apart) { const d = Math.sqrt(d2), push = (apart - d) / d * .6; this.vx[i] += dx * push; this.vy[i] += dy * push; }
      } else for (let q = 0; q < 4; q++) { const k = t.kids[c * 4 + q]; if (k >= 0) stack.push(k, s / 2); }
    }
  }
  attract() {
    for (const [a, b] of this.arcs) {
      const dx = this.x[b] - this.x[a], dy = this.y[b] - this.y[a], d = Math.hypot(dx, dy) || 1;
      const rest = this.gap + this.reach[a] + this.reach[b];
      // A page with many links is held by none of them.
      const f = .22 * (d - rest) / d / (Math.min(this.degree[a], this.degree[b]) || 1);
      const share = this.degree[a] / (this.degree[a] + this.degree[b]);
      this.vx[a] += dx * f * (1 - share); this.vy[a] += dy * f * (1 - share);
      this.vx[b] -= dx * f * share; this.vy[b] -= dy * f * share;
    }
  }
  gather() {
    const mx = new Float64Array(this.hosts), my = new Float64Array(this.hosts), m = new Float64Array(this.hosts);
    for (let i = 0; i < this.n; i++) { const h = this.host[i]; mx[h] += this.x[i]; my[h] += this.y[i]; m[h]++; }
    for (let i = 0; i < this.n; i++) {
      const h = this.host[i];
      this.vx[i] += (mx[h] / m[h] - this.x[i]) * .012 - this.x[i] * .006;
      this.vy[i] += (my[h] / m[h] - this.y[i]) * .012 - this.y[i] * .006;
    }
  }
  // One step; what it moves at most shrinks as the drawing cools.
  step() {
    const t = this.plant();
    for (let i = 0; i < this.n; i++) this.repel(t, i);
    this.attract(); this.gather();
    const most = 2 + 40 * this.heat;
    for (let i = 0; i < this.n; i++) {
      if (!this.held[i]) {
        const v = Math.hypot(this.vx[i], this.vy[i]), k = v > most ? most / v : 1;
        this.x[i] += this.vx[i] * k * this.heat; this.y[i] += this.vy[i] * k * this.heat;
      }
      this.vx[i] *= .55; this.vy[i] *= .55;
    }
    this.heat *= .985;
  }
}
