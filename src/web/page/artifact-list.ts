/** What a build left somewhere, as links; only addresses of the web are links. */
import type { BuildDocument } from '../../api/builds.ts';
import { element, externalLink } from './dom.ts';

/** @returns false: it left nothing. */
export function artifactList({ artifacts }: BuildDocument): Element | false {
  if (artifacts.length === 0) return false;
  const items = artifacts.map(({ name, url }) =>
    element('li', {}, isWebAddress(url) ? externalLink(url, name) : `${name}: ${url}`),
  );
  return element('ul', { class: 'meta', 'aria-label': 'Artifacts' }, ...items);
}

function isWebAddress(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && (url.protocol === 'http:' || url.protocol === 'https:');
}
