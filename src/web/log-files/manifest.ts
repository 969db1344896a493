/** What there is below the `log_url` of a build, for machines and for people. Pure. */
import type { KeptFile } from '../../model/kept-files.ts';
import { fileType } from './file-type.ts';

/** Where the log itself is. */
export const JOB_OUTPUT = 'job-output.txt';
/** Where Zuul's page looks for the list. A job may leave one of its own. */
export const MANIFEST = 'zuul-manifest.json';
/** What tasks of Ansible returned. Zuul's page reads it of every build. */
export const TASKS = 'job-output.json';

/** As `zuul-manifest.json` has it. */
interface ManifestEntry {
  readonly name: string;
  readonly mimetype: string;
  readonly encoding: null;
  readonly last_modified?: number;
  readonly size?: number;
  readonly children?: ManifestEntry[];
}

/** The list in Zuul's form. @param files in the order of their paths: those of a directory follow one another. */
export function manifestOf(files: readonly KeptFile[]): {
  readonly tree: readonly ManifestEntry[];
  readonly index_links: false;
} {
  const tree: ManifestEntry[] = [{ name: JOB_OUTPUT, mimetype: 'text/plain', encoding: null }];
  for (const { path, bytes, modified } of files) {
    const parts = path.split('/');
    const name = parts.pop() ?? path;
    const mimetype = fileType(path).split(';')[0] ?? '';
    directory(tree, parts).push({ name, mimetype, encoding: null, last_modified: modified, size: bytes });
  }
  return { tree, index_links: false };
}

function directory(tree: ManifestEntry[], [name, ...below]: readonly string[]): ManifestEntry[] {
  if (name === undefined) return tree;
  const last = tree.at(-1);
  if (last?.name === name && last.children !== undefined) return directory(last.children, below);
  const children: ManifestEntry[] = [];
  tree.push({ name, mimetype: 'application/directory', encoding: null, children });
  return directory(children, below);
}

/** A page with links. @param links `page`: of the build; `base`: below which the files are. */
export function listing(
  files: readonly KeptFile[],
  { page, base }: { readonly page: string; readonly base: string },
): string {
  const row = (path: string, size: string) =>
    `<li><a href="${escaped(path.split('/').map(encodeURIComponent).join('/'))}">${escaped(path)}</a> ${size}</li>`;
  const rows = [
    row(JOB_OUTPUT, ''),
    ...files.map(({ path, bytes }) => row(path, `${bytes} bytes`)),
    row(MANIFEST, ''),
  ];
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Logs</title><base href="${escaped(base)}">
<style>body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem } li { list-style: none } ul { padding: 0 }</style>
<p><a href="${escaped(page)}">the build</a></p>
<ul>
${rows.join('\n')}
</ul>
</html>
`;
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
