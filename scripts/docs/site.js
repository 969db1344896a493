/** Theme, menu and search of the documentation. No module: pages that were opened from the disk may load scripts only. */
(() => {
  const root = document.documentElement;
  const KEY = 'gatehouse-docs-theme';
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const shown = () => root.dataset.theme ?? (dark.matches ? 'dark' : 'light');

  // Storage may be forbidden, then the choice lasts for the page.
  const stored = {
    get theme() {
      try {
        return localStorage.getItem(KEY);
      } catch {
        return null;
      }
    },
    set theme(value) {
      try {
        localStorage.setItem(KEY, value);
      } catch {
        root.dataset.theme = value;
      }
    },
  };
  if (stored.theme === 'dark' || stored.theme === 'light') root.dataset.theme = stored.theme;

  addEventListener('DOMContentLoaded', () => {
    themeButton(document.querySelector('.theme'));
    menuButton(document.querySelector('.menu'), document.querySelector('#menu'));
    search(document.querySelector('.search'));
    document.querySelector('#menu [aria-current]')?.scrollIntoView({ block: 'nearest' });
  });

  function themeButton(button) {
    const label = () => {
      const other = shown() === 'dark' ? 'light' : 'dark';
      button.textContent = other === 'dark' ? '☾' : '☀';
      button.setAttribute('aria-label', `Use the ${other} theme`);
    };
    button.addEventListener('click', () => {
      root.dataset.theme = shown() === 'dark' ? 'light' : 'dark';
      stored.theme = root.dataset.theme;
      label();
    });
    dark.addEventListener('change', label);
    label();
    button.hidden = false;
  }

  function menuButton(button, menu) {
    const open = isOpen => {
      menu.classList.toggle('open', isOpen);
      button.setAttribute('aria-expanded', String(isOpen));
    };
    button.addEventListener('click', () => open(!menu.classList.contains('open')));
    addEventListener('keydown', ({ key }) => {
      if (key === 'Escape') open(false);
    });
  }

  let index;
  /** The texts are loaded when a reader first wants to search. */
  function loadIndex() {
    index ??= Promise.all(['minisearch.js', 'search-texts.js'].map(loadScript)).then(() => {
      const made = new MiniSearch({
        fields: ['title', 'page', 'text'],
        storeFields: ['at', 'page', 'title', 'text', 'minor'],
        searchOptions: {
          boost: { title: 5, page: 2 },
          prefix: term => term.length > 2,
          fuzzy: term => (term.length > 4 ? 0.2 : false),
          combineWith: 'AND',
          boostDocument: (_id, _term, { minor }) => (minor ? 0.4 : 1),
        },
      });
      made.addAll(SEARCH_TEXTS);
      return made;
    });
    return index;
  }

  function loadScript(name) {
    return new Promise((resolve, reject) => {
      const script = document.createElement('script');
      script.src = `${root.dataset.root}/${name}`;
      script.addEventListener('load', resolve);
      script.addEventListener('error', () => reject(new Error(`${name} cannot be loaded`)));
      document.head.append(script);
    });
  }

  function search(form) {
    const input = form.querySelector('input');
    const found = form.querySelector('.found');
    const close = () => {
      found.hidden = true;
    };
    const show = async () => {
      const words = input.value.trim();
      if (words === '') return close();
      let lines;
      try {
        lines = (await loadIndex()).search(words).slice(0, 12).map(resultLine);
      } catch (error) {
        lines = [paragraph(`The search does not work: ${error.message}.`)];
      }
      // Typing went on meanwhile.
      if (words !== input.value.trim()) return;
      found.replaceChildren(...(lines.length > 0 ? lines : [paragraph('Nothing fits all of these words.')]));
      found.hidden = false;
    };
    input.addEventListener('focus', () => loadIndex().catch(() => undefined));
    input.addEventListener('input', show);
    form.addEventListener('submit', event => {
      event.preventDefault();
      found.querySelector('a')?.click();
    });
    form.addEventListener('keydown', event => move(event, input, found, close));
    addEventListener('click', ({ target }) => {
      if (!form.contains(target)) close();
    });
    found.addEventListener('click', close);
    addEventListener('keydown', event => {
      const typing = event.target instanceof Element && event.target.closest('input, textarea');
      if (event.key !== '/' || typing || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      input.focus();
    });
    form.hidden = false;
  }

  /** Arrow keys go through the results. */
  function move(event, input, found, close) {
    if (event.key === 'Escape') {
      close();
      input.blur();
    }
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
    const stops = [input, ...found.querySelectorAll('a')];
    const next = stops.indexOf(document.activeElement) + (event.key === 'ArrowDown' ? 1 : -1);
    stops[next]?.focus();
    event.preventDefault();
  }

  function paragraph(text) {
    const line = document.createElement('p');
    line.textContent = text;
    return line;
  }

  function resultLine({ at, page, title, text, terms }) {
    const line = document.createElement('a');
    line.href = `${root.dataset.root}/${at}`;
    const name = document.createElement('b');
    name.textContent = title;
    const where = document.createElement('small');
    where.textContent = page === title ? '' : page;
    const quote = document.createElement('small');
    quote.append(...marked(excerpt(text, terms), terms));
    line.append(name, where, quote);
    return line;
  }

  /** The text around the first word that fits. */
  function excerpt(text, terms) {
    const places = terms.map(term => text.toLowerCase().indexOf(term)).filter(place => place >= 0);
    const from = Math.max(0, Math.min(...(places.length > 0 ? places : [0])) - 50);
    const piece = text.slice(from, from + 170);
    return `${from > 0 ? '…' : ''}${piece}${from + 170 < text.length ? '…' : ''}`;
  }

  function marked(text, terms) {
    const words = terms.map(term => term.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
    return text.split(new RegExp(`(${words.join('|')})`, 'i')).map((piece, number) => {
      if (number % 2 === 0) return piece;
      const mark = document.createElement('mark');
      mark.textContent = piece;
      return mark;
    });
  }
})();
