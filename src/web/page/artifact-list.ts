/** What a build left: artifacts somewhere, as links where they are addresses of the web, warnings, and comments on lines. */
import type { BuildDocument } from '../../api/build-schema.ts';
import { element, externalLink } from './dom.ts';

/** @returns false: it left nothing. */
export function artifactList({ artifacts: all }: BuildDocument): Element | false {
  // The list of files is there for Zuul's page; ours shows the files.
  const artifacts = all.filter(({ metadata }) => typeOf(metadata) !== 'zuul_manifest');
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

function typeOf(metadata: BuildDocument['artifacts'][number]['metadata']): unknown {
  return typeof metadata === 'object' && metadata !== null && 'type' in metadata ? metadata.type : undefined;
}

function isWebAddress(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && (url.protocol === 'http:' || url.protocol === 'https:');
}
