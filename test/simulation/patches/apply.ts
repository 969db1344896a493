/**
 * Loads the source with a patch in place; nothing on disk changes. What a patch concerns is loaded anew under a name of its own
 * (`src/store/fence.ts?patch=no-epoch-check`): the files it edits, and all that import them. The rest is shared with the sound product.
 */
import { registerHooks } from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Edit, Patch } from './patch.ts';

const ROOT = path.resolve(import.meta.dirname, '../../..');
const OWN = pathToFileURL(`${ROOT}/`).href;
const PACKAGES = pathToFileURL(path.join(ROOT, 'node_modules/')).href;

/** Made before anything of the product is loaded. */
export interface PatchedModules {
  /**
   * @param url of a module whose sound version is loaded already, so that it is known what imports what.
   * @throws Error when a text the patch replaces is not there exactly once.
   */
  load(url: string, patch: Patch): Promise<unknown>;
}

export function patchedModules(): PatchedModules {
  /** Of the sound product: who imports a module. */
  const importers = new Map<string, Set<string>>();
  let edits = new Map<string, readonly Edit[]>();
  let concerned: ReadonlySet<string> = new Set();

  registerHooks({
    resolve(specifier, context, next) {
      const resolved = next(specifier, context);
      const { url } = resolved;
      if (!url.startsWith(OWN) || url.startsWith(PACKAGES) || context.parentURL === undefined)
        return resolved;
      const [importer = '', patch] = context.parentURL.split('?patch=');
      if (patch === undefined) {
        const known = importers.get(url);
        if (known === undefined) importers.set(url, new Set([importer]));
        else known.add(importer);
        return resolved;
      }
      // What the sound product has not loaded may import anything.
      const isConcerned = concerned.has(url) || !importers.has(url);
      return isConcerned ? { ...resolved, url: `${url}?patch=${patch}` } : resolved;
    },
    load(url, context, next) {
      const loaded = next(url, context);
      const [file = '', patch] = url.split('?patch=');
      const changes = patch === undefined ? undefined : edits.get(file);
      if (changes === undefined || loaded.source === undefined || loaded.source === null) return loaded;
      const text =
        typeof loaded.source === 'string' ? loaded.source : new TextDecoder().decode(loaded.source);
      return { ...loaded, source: changes.reduce(edited, text) };
    },
  });

  return {
    async load(url, patch) {
      edits = Map.groupBy(patch.edits, ({ file }) => pathToFileURL(path.join(ROOT, file)).href);
      concerned = importersOf([...edits.keys()], importers);
      if (!concerned.has(url))
        throw new Error(`${fileURLToPath(url)} loads nothing that ${patch.name} changes`);
      return await import(`${url}?patch=${patch.name}`);
    },
  };
}

/** With those that import them, directly or not. */
function importersOf(
  urls: readonly string[],
  importers: ReadonlyMap<string, ReadonlySet<string>>,
): ReadonlySet<string> {
  const found = new Set(urls);
  for (const url of found) for (const importer of importers.get(url) ?? []) found.add(importer);
  return found;
}

export function edited(text: string, { file, find, replace }: Edit): string {
  const parts = text.split(find);
  if (parts.length !== 2)
    throw new Error(
      `the patch does not fit: ${JSON.stringify(find)} is ${parts.length - 1} times in ${file}`,
    );
  return parts.join(replace);
}
