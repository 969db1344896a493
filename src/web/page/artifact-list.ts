/** What a build left: artifacts somewhere, as links where they are addresses of the web, and warnings. */
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

/** @returns false: it left none. */
export function warningList({ gatehouse: { warnings } }: BuildDocument): Element | false {
  if (warnings.length === 0) return false;
  const items = warnings.map(text => element('li', {}, `Warning: ${text}`));
  return element('ul', { class: 'meta', 'aria-label': 'Warnings' }, ...items);
}

function isWebAddress(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && (url.protocol === 'http:' || url.protocol === 'https:');
}
