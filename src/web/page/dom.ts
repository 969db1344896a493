/** Content of an element; null, undefined and false are skipped. */
export type Child = Node | string | number | null | undefined | false | readonly Child[];

/** Null, undefined and false omit the attribute. */
export interface ElementAttributes {
  readonly [name: string]: string | number | boolean | null | undefined;
}

/**
 * Makes elements from data. Text becomes text nodes only, and addresses must be http(s) or relative to this site: nothing that the
 * author of a change writes can become markup.
 *
 *     element('a', { class: 'title', href: '/t/main' }, 'Remember the session')
 */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: ElementAttributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name !== 'href' || isHarmless(String(value)))
      made.setAttribute(name, value === true ? '' : String(value));
  }
  append(made, children);
  return made;
}

function append(parent: Element, children: readonly Child[]): void {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (isList(child)) append(parent, child);
    else parent.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

function isList(child: Child): child is readonly Child[] {
  return Array.isArray(child);
}

/** Replaces the content of `parent` and keeps the focus if the focused element still exists. */
export function show(parent: Element, ...children: readonly Child[]): void {
  const focused = parent.contains(document.activeElement) ? (document.activeElement?.id ?? '') : '';
  parent.replaceChildren();
  append(parent, children);
  if (focused !== '') document.getElementById(focused)?.focus({ preventScroll: true });
}

/** As {@link show}, but children that stay in place are not taken out: they keep their focus, and what watches them. */
export function arrange(parent: Element, wanted: readonly Element[]): void {
  const focused = parent.contains(document.activeElement) ? (document.activeElement?.id ?? '') : '';
  const kept = new Set(wanted);
  for (const child of [...parent.children]) if (!kept.has(child)) child.remove();
  let next = parent.firstElementChild;
  for (const child of wanted) {
    if (child === next) next = next.nextElementSibling;
    else parent.insertBefore(child, next);
  }
  if (focused !== '' && document.activeElement?.id !== focused)
    document.getElementById(focused)?.focus({ preventScroll: true });
}

/** Opens a new tab that cannot reach this one. Null without an address. */
export function externalLink(
  address: string | null | undefined,
  ...children: readonly Child[]
): HTMLElement | null {
  if (address === null || address === undefined) return null;
  return element(
    'a',
    { href: address, class: 'external', rel: 'noopener noreferrer', target: '_blank' },
    ...children,
  );
}

function isHarmless(address: string): boolean {
  return /^(https?:\/\/|\/(?!\/)|#)/.test(address);
}
