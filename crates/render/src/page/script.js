// Runs in a world of its own in every document: the page's scripts cannot see or change it.
(() => {
  if (globalThis.orb) return;
  let moved = performance.now();
  const watch = { subtree: true, childList: true, characterData: true, attributes: true, attributeFilter: ['href', 'src'] };
  new MutationObserver(() => { moved = performance.now(); }).observe(document, watch);
  const pause = (ms) => new Promise((done) => setTimeout(done, ms));
  // Two frames later: what is seen by then has been told to those who watch for it. On a busy machine
  // a frame takes its time; a page that is shown nowhere has none.
  const frame = () => new Promise((done) => { requestAnimationFrame(() => done()); setTimeout(done, 800); });
  const drawn = async () => { await frame(); await frame(); };
  const height = () => Math.max(document.documentElement?.scrollHeight ?? 0, document.body?.scrollHeight ?? 0);

  // Copies a node into a document without scripts, shadow trees and inline frames included.
  const inert = document.implementation.createHTMLDocument('');
  const copy = (node) => {
    const twin = inert.importNode(node, false);
    for (const child of node.childNodes) twin.appendChild(copy(child));
    if (node.nodeType !== Node.ELEMENT_NODE) return twin;
    if (node.localName === 'template' && node.content) {
      for (const child of node.content.childNodes) twin.content.appendChild(copy(child));
    }
    if (node.shadowRoot) {
      const shadow = inert.createElement('div');
      shadow.setAttribute('data-shadow-root', '');
      for (const child of node.shadowRoot.childNodes) shadow.appendChild(copy(child));
      twin.prepend(shadow);
    }
    return twin;
  };
  const hosts = (root) => {
    for (const element of root.querySelectorAll('*')) if (element.shadowRoot) return true;
    return false;
  };
  const framed = (frame) => {
    const source = frame.getAttribute('src') ?? '';
    if (/^(https?:|\/|[^:]*$)/i.test(source) && source !== '' && !source.startsWith('about:')) return null;
    try { return frame.contentDocument?.body ?? null; } catch { return null; }
  };

  // What looks as if a click did something harmless, and is no link by itself.
  const denied = /log ?out|sign ?out|delete|remove|buy|order|pay|unsubscribe|abmelden|löschen|kaufen|bestellen|déconn|supprimer|acheter|eliminar|comprar/i;
  const plain = 'a[href]:not([href^="#"]):not([href^="javascript:"])';
  const spoken = '[onclick],[role=button],[role=link],[role=tab],[role=menuitem],button,summary,[data-href],[data-url]';
  const points = (element) => element && getComputedStyle(element).cursor === 'pointer';
  const clickable = (element) => {
    if (element.closest(plain) || element.matches('input,select,textarea,[type=submit],[type=reset]')) return false;
    if (element.closest('form') && element.matches('button')) return false;
    if (!element.matches(spoken) && !(points(element) && !points(element.parentElement))) return false;
    return element.getClientRects().length > 0 && !denied.test((element.textContent ?? '').slice(0, 200));
  };
  const targets = () => [...document.querySelectorAll('a[href],area[href]')].map((link) => link.href);

  globalThis.orb = {
    async clicks(most, within) {
      const end = performance.now() + within;
      const found = new Set();
      const wanted = [...document.body?.querySelectorAll('*') ?? []].filter(clickable).slice(0, most);
      for (const element of wanted) {
        if (performance.now() > end) break;
        const before = location.href;
        element.click();
        await pause(40);
        targets().forEach((target) => found.add(target));
        if (location.href !== before) {
          history.back();
          await pause(80);
        }
      }
      return [...found].slice(0, 5000);
    },
    // Asked when the page has nothing else to do: what has arrived is dealt with then.
    async state() {
      await drawn();
      await new Promise((done) => requestIdleCallback(done, { timeout: 500 }));
      return [document.readyState, performance.now() - moved, height(), window.innerHeight];
    },
    // Screen by screen, at the pace of frames, so that each is seen.
    async scroll(from, screens) {
      let done = 0;
      for (; done < screens && (from + done) * window.innerHeight < height(); done += 1) {
        window.scrollTo(0, (from + done + 1) * window.innerHeight);
        await drawn();
      }
      return done;
    },
    // Who watches for the end of a list must see it leave before it can see it come again.
    async again() {
      window.scrollTo(0, 0);
      await drawn();
      window.scrollTo(0, height());
      await drawn();
      return 1;
    },
    html(most) {
      const root = document.documentElement;
      if (!root) return ['', false];
      let text = hosts(document) ? copy(root).outerHTML : root.outerHTML;
      const inline = [...document.querySelectorAll('iframe')].map(framed).filter(Boolean);
      const frames = inline.map((body) => `<div data-frame>${body.innerHTML}</div>`).join('');
      if (frames) text = text.replace(/<\/body>(?![\s\S]*<\/body>)/i, () => `${frames}</body>`);
      text = `<!DOCTYPE html>${text}`;
      return text.length > most ? [text.slice(0, most), true] : [text, false];
    },
  };
})();
