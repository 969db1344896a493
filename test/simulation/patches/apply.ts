/** Puts a patch in place while the source is loaded; nothing on disk changes. */
import { registerHooks } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Edit } from './patch.ts';
import { PATCHES } from './table.ts';

const ROOT = path.resolve(import.meta.dirname, '../../..');

/** @throws Error when there is no such patch; later, while loading, when a text it replaces is not there exactly once. */
export function applyPatch(name: string): void {
  const patch = PATCHES.find(each => each.name === name);
  if (patch === undefined)
    throw new Error(`there is no patch ${name}; there are: ${PATCHES.map(each => each.name).join(', ')}`);
  const byFile = Map.groupBy(patch.edits, edit => path.join(ROOT, edit.file));
  registerHooks({
    load(url, context, next) {
      const loaded = next(url, context);
      const edits = url.startsWith('file:') ? byFile.get(fileURLToPath(url)) : undefined;
      if (edits === undefined || loaded.source === undefined || loaded.source === null) return loaded;
      const text =
        typeof loaded.source === 'string' ? loaded.source : new TextDecoder().decode(loaded.source);
      return { ...loaded, source: edits.reduce(edited, text) };
    },
  });
}

export function edited(text: string, { file, find, replace }: Edit): string {
  const parts = text.split(find);
  if (parts.length !== 2)
    throw new Error(
      `the patch does not fit: ${JSON.stringify(find)} is ${parts.length - 1} times in ${file}`,
    );
  return parts.join(replace);
}
