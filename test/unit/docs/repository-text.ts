/** Reading the repository as text: what the documentation says and what the sources name. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

export const ROOT = path.resolve(import.meta.dirname, '../../..');

export function textOf(file: string): string {
  return readFileSync(path.join(ROOT, file), 'utf8');
}

/** Repository paths of the files below a folder that end in `ending`. */
export function filesBelow(folder: string, ending: string): readonly string[] {
  return readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith(ending))
    .map(file => path.join(folder, file))
    .sort();
}

/** The members of `export type <name> = | 'a' | 'b';` */
export function unionMembers(file: string, name: string): readonly string[] {
  const source = withoutComments(textOf(file));
  const body = new RegExp(`export type ${name} =([^;]*);`).exec(source)?.[1] ?? '';
  return [...body.matchAll(/'([^']+)'/g)].map(([, member = '']) => member);
}

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*.*?\*\//gs, '').replaceAll(/\/\/.*$/gm, '');
}

/** What stands in backticks. */
export function codeSpans(text: string): ReadonlySet<string> {
  return new Set([...text.matchAll(/`([^`\n]+)`/g)].map(([, span = '']) => span));
}

/** The part of a Markdown text below one heading, up to the next of the same or a higher level. */
export function sectionOf(text: string, heading: string): string {
  const lines = text.split('\n');
  const start = lines.findIndex(line => /^#+ /.test(line) && line.replace(/^#+ /, '') === heading);
  if (start < 0) throw new Error(`there is no heading ${JSON.stringify(heading)}`);
  const level = /^#+/.exec(lines[start] ?? '')?.[0].length ?? 1;
  const after = lines.slice(start + 1);
  const end = after.findIndex(line => new RegExp(`^#{1,${level}} `).test(line));
  return (end < 0 ? after : after.slice(0, end)).join('\n');
}
