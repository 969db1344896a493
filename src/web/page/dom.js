/**
 * Elements from data. Text only ever becomes a text node, and an address only an http(s) one or one of ours: nothing a
 * change's author writes can become markup.
 *
 *     element('a', { class: 'title', href: '/t/main' }, 'Remember the session')
 *
 * @param {string} tag
 * @param {Record<string, unknown>} attributes null, undefined and false leave the attribute out; `on…` adds a listener.
 * @param {...(Node | string | number | null | undefined | false | Array<unknown>)} children
 */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on') && typeof value === 'function') made.addEventListener(name.slice(2), value);
    else if (name !== 'href' || isHarmless(String(value)))
      made.setAttribute(name, value === true ? '' : String(value));
  }
  append(made, children);
  return made;
}

export function append(parent, children) {
  for (const child of children.flat(Number.POSITIVE_INFINITY)) {
    if (child === null || child === undefined || child === false) continue;
    parent.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

/** Replaces what `parent` shows and keeps the focus where it was, when that is still there. */
export function show(parent, ...children) {
  const focused = parent.contains(document.activeElement) ? document.activeElement.id : '';
  parent.replaceChildren();
  append(parent, children);
  if (focused !== '') document.getElementById(focused)?.focus({ preventScroll: true });
}

export function externalLink(address, ...children) {
  if (address === null || address === undefined) return null;
  return element(
    'a',
    { href: address, class: 'external', rel: 'noopener noreferrer', target: '_blank' },
    ...children,
  );
}

function isHarmless(address) {
  return /^(https?:\/\/|\/(?!\/)|#)/.test(address);
}
