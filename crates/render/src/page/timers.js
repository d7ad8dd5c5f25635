// Runs among the page's own scripts: what they wait for cannot be seen from another world.
(() => {
  const now = performance.now.bind(performance);
  const due = new Map();
  let asked = 0;
  // How many timers led to what runs now. A chain that is longer than this never ends.
  let depth = 0;
  const DEEPEST = 3;
  const soon = queueMicrotask.bind(window);
  // Set by what may act at any time; then only silence tells that a page has come to rest.
  let restless = false;
  const instead = (name, handler) => {
    if (typeof window[name] === 'function') window[name] = new Proxy(window[name], handler);
  };
  instead('setTimeout', {
    apply(real, self, [work, wait, ...rest]) {
      if (typeof work !== 'function') {
        restless = true;
        return Reflect.apply(real, self, [work, wait, ...rest]);
      }
      const level = depth + 1;
      const done = function (...given) {
        due.delete(id);
        depth = level;
        try {
          return Reflect.apply(work, this, given);
        } finally {
          // After those who waited for this timer by a promise.
          soon(() => { depth = 0; });
        }
      };
      const id = Reflect.apply(real, self, [done, wait, ...rest]);
      if (level <= DEEPEST) due.set(id, now() + (Number(wait) || 0));
      return id;
    },
  });
  instead('clearTimeout', {
    apply(real, self, given) {
      due.delete(Number(given[0]));
      return Reflect.apply(real, self, given);
    },
  });
  instead('fetch', {
    apply(real, self, given) {
      asked += 1;
      const over = () => { asked -= 1; };
      const answer = Reflect.apply(real, self, given);
      answer.then(over, over);
      return answer;
    },
  });
  XMLHttpRequest.prototype.send = new Proxy(XMLHttpRequest.prototype.send, {
    apply(real, self, given) {
      asked += 1;
      try {
        const sent = Reflect.apply(real, self, given);
        self.addEventListener('loadend', () => { asked -= 1; }, { once: true });
        return sent;
      } catch (error) {
        asked -= 1;
        throw error;
      }
    },
  });
  const marks = {
    apply(real, self, given) {
      restless = true;
      return Reflect.apply(real, self, given);
    },
    construct(real, given, target) {
      restless = true;
      return Reflect.construct(real, given, target);
    },
  };
  ['setInterval', 'Worker', 'SharedWorker'].forEach((name) => instead(name, marks));
  // Open requests and timers that go off within so many milliseconds, or null if these do not tell
  // enough.
  const pending = (within) => {
    if (restless || window.length > 0) return null;
    const end = now() + within;
    return asked + [...due.values()].filter((at) => at <= end).length;
  };
  Object.defineProperty(window, Symbol.for('orb.pending'), { value: pending });
})();
