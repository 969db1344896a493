/**
 * Refs of a bare repository from its files, read at once: a story lists them hundreds of times, and waiting for each file costs more
 * than the file.
 */
import { type Dirent, readdirSync, readFileSync } from 'node:fs';

export interface ListedRefs {
  /** By full name, in git's order. */
  readonly refs: ReadonlyMap<string, string>;
  /** Undefined: names nothing, or is no branch. */
  readonly head: { readonly branch: string; readonly id: string } | undefined;
}

/** @param prefixes of full names; none: all. @returns undefined: there is a ref that names another, which is for git. */
export function listRefs(dir: string, prefixes: readonly string[]): ListedRefs | undefined {
  const isWanted = (ref: string) => prefixes.length === 0 || prefixes.some(each => ref.startsWith(each));
  const mayHold = (folder: string) =>
    prefixes.length === 0 || prefixes.some(each => each.startsWith(folder) || folder.startsWith(each));
  const loose = new Map<string, string>();
  const visit = (folder: string): void => {
    for (const entry of entriesOf(`${dir}/${folder}`)) {
      const name = `${folder}${entry.name}`;
      if (entry.isDirectory()) {
        if (mayHold(`${name}/`)) visit(`${name}/`);
      } else if (isWanted(name) && !name.endsWith('.lock')) {
        const id = read(`${dir}/${name}`).trimEnd();
        // One that is gone by now was removed, or is among the packed ones, which are read after it.
        if (id !== '') loose.set(name, id);
      }
    }
  };
  visit('refs/');
  const packed = packedRefs(dir);
  const named = [...packed].filter(([ref]) => isWanted(ref));
  const all = [...new Map([...named, ...loose])];
  if (!all.every(([, id]) => /^[0-9a-f]{40}$/.test(id))) return undefined;
  const refs = new Map(all.toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return { refs, head: headOf(dir, packed) };
}

function headOf(dir: string, packed: ReadonlyMap<string, string>): ListedRefs['head'] {
  const branch = /^ref: (\S+)\n$/.exec(read(`${dir}/HEAD`))?.[1];
  if (branch === undefined) return undefined;
  const id = read(`${dir}/${branch}`).trimEnd() || packed.get(branch);
  return id === undefined || !/^[0-9a-f]{40}$/.test(id) ? undefined : { branch, id };
}

function packedRefs(dir: string): ReadonlyMap<string, string> {
  const lines = read(`${dir}/packed-refs`).split('\n');
  return new Map(
    lines.filter(line => /^[0-9a-f]{40} /.test(line)).map(line => [line.slice(41), line.slice(0, 40)]),
  );
}

/** Empty where there is no such file. */
function read(file: string): string {
  return unlessGone(() => readFileSync(file, 'utf8'), '');
}

function entriesOf(folder: string): readonly Dirent[] {
  return unlessGone(() => readdirSync(folder, { withFileTypes: true }), []);
}

/** git removes a folder with its last ref while others read. */
function unlessGone<T>(reading: () => T, otherwise: T): T {
  try {
    return reading();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (['ENOENT', 'EISDIR', 'ENOTDIR'].includes(code)) return otherwise;
    throw error;
  }
}
