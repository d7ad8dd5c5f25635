// As a bundler leaves it: one module, a virtual tree turned into elements, data by fetch.
const h = (tag, props, ...children) => {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props ?? {})) node.setAttribute(name, value);
  node.append(...children.flat());
  return node;
};
const get = (path) => fetch(path, { headers: { Accept: 'application/json' } }).then((r) => r.json());
const Nav = () => h('nav', null, h('a', { href: '/' }, 'Home'), ' ', h('a', { href: '/about' }, 'About'));
const Home = async () => {
  const items = await get('/api/items.json');
  return [h('h1', null, 'All items'), h('ul', null, items.map((i) => h('li', null, h('a', { href: `/items/${i.id}` }, i.name))))];
};
const Item = async (id) => {
  const item = await get(`/api/items/${id}.json`);
  return [h('h1', null, item.name), h('p', null, item.text), item.next ? h('a', { href: `/items/${item.next}` }, 'Next') : ''];
};
const About = async () => [h('h1', null, 'About'), h('p', null, 'A page that only scripts can write.')];
const route = (path) => {
  const item = /^\/items\/(\d+)$/.exec(path);
  return item ? Item(item[1]) : path === '/about' ? About() : Home();
};
const view = await route(location.pathname);
document.title = view[0].textContent;
document.getElementById('root').replaceChildren(Nav(), h('main', null, view));
document.addEventListener('click', async (event) => {
  const link = event.target.closest('a');
  if (!link) return;
  event.preventDefault();
  history.pushState(null, '', link.href);
});
