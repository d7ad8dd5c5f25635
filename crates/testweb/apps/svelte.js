// Components in shadow trees, and a list that grows as it is scrolled.
const text = (value) => document.createTextNode(value);
const link = (href, words) => Object.assign(document.createElement('a'), { href, textContent: words });
class Menu extends HTMLElement {
  connectedCallback() {
    this.attachShadow({ mode: 'open' }).append(link('/', 'Home'), text(' '), link('/about', 'About'));
  }
}
customElements.define('site-menu', Menu);
const target = document.getElementById('svelte');
target.append(document.createElement('site-menu'));
const main = target.appendChild(document.createElement('main'));
const heading = main.appendChild(document.createElement('h1'));
const get = async (path) => (await fetch(path)).json();
const item = /^\/items\/(\d+)$/.exec(location.pathname);
if (item) {
  const { name, text: words, next } = await get(`/api/items/${item[1]}.json`);
  heading.textContent = document.title = name;
  main.append(words, ...(next ? [link(`/items/${next}`, 'Next')] : []));
} else if (location.pathname === '/about') {
  await new Promise(requestAnimationFrame);
  heading.textContent = document.title = 'About';
  main.append('A page that only scripts can write.');
} else {
  heading.textContent = document.title = 'All items';
  const end = target.appendChild(document.createElement('footer'));
  let from = 0;
  const more = async () => {
    const items = await get(`/api/items.json?from=${from}`);
    from += items.length;
    for (const { id, name } of items) {
      const row = main.appendChild(document.createElement('div'));
      row.style.height = '400px';
      row.append(link(`/items/${id}`, name));
    }
    if (items.length === 0) seen.disconnect();
  };
  const seen = new IntersectionObserver((entries) => { if (entries.some((e) => e.isIntersecting)) more(); });
  await more();
  seen.observe(end);
}
