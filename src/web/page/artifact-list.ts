/** What a build left: artifacts somewhere, as links where they are addresses of the web, warnings, and comments on lines. */
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

/** Warnings, and comments on lines. @returns false: it left none. */
export function remarkList({ gatehouse: { warnings, file_comments } }: BuildDocument): Element | false {
  const lines = [
    ...warnings.map(text => `Warning: ${text}`),
    ...file_comments.map(({ file, line, message }) => `${file}:${line}: ${message}`),
  ];
  if (lines.length === 0) return false;
  const items = lines.map(text => element('li', {}, text));
  return element('ul', { class: 'meta', 'aria-label': 'Remarks' }, ...items);
}

function isWebAddress(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && (url.protocol === 'http:' || url.protocol === 'https:');
}
