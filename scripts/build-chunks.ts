/**
 * Which modules of the build become one chunk: those that are always loaded together. A bundler left alone also parts them by each module that
 * loads them later, when the program has them in memory anyway: `gatehouse start` read 160 files, most of them a few lines long.
 *
 *     const chunks = chunkPlan();
 *     rolldown({ plugins: [chunks.plugin] });
 *     bundle.write({ codeSplitting: { groups: [{ name: chunks.name, includeDependenciesRecursively: false }] } });
 *
 * A *root* is where a load begins: an entry, or a module that is imported at run time. A module belongs to the roots that reach it by static imports,
 * without those that only code can load that has loaded the module already. Modules of the same roots are one chunk.
 */
import path from 'node:path';
import type { Plugin } from 'rolldown';

/** In the graph of a build; by its id. */
export interface Module {
  readonly isEntry: boolean;
  readonly imports: readonly string[];
  /** Loaded at run time. */
  readonly loads: readonly string[];
}

type Graph = ReadonlyMap<string, Module>;

interface ChunkPlan {
  /** Learns what imports what. */
  readonly plugin: Plugin;
  /** Of a module's chunk; null: the bundler's choice. */
  name(id: string): string | null;
}

export function chunkPlan(): ChunkPlan {
  const graph = new Map<string, Module>();
  let names: ((id: string) => string | null) | undefined;
  return {
    plugin: {
      name: 'chunk-plan',
      buildEnd() {
        for (const id of this.getModuleIds()) {
          const found = this.getModuleInfo(id);
          if (found === null) continue;
          const { isEntry, importedIds, dynamicallyImportedIds } = found;
          graph.set(id, { isEntry, imports: [...importedIds], loads: [...dynamicallyImportedIds] });
        }
      },
    },
    name(id) {
      names ??= namesOfChunks(graph);
      return names(id);
    },
  };
}

/** @returns the name of a module's chunk; null: it is alone. */
export function namesOfChunks(graph: Graph): (id: string) => string | null {
  const roots = [...graph].flatMap(([id, { isEntry, loads }]) => (isEntry ? [id, ...loads] : loads));
  const reached = new Map(
    roots.filter(root => graph.has(root)).map(root => [root, reachedFrom(root, graph)]),
  );
  const before = loadedBefore(graph, reached);
  const names = new Map<string, string>();
  return id => {
    // Alone, as what awaits at its top level may not be part of what is loaded meanwhile.
    if (graph.get(id)?.isEntry) return null;
    const mine = [...reached.keys()].filter(root => reached.get(root)?.has(id) && !before.get(root)?.has(id));
    if (mine.length === 0) return null;
    const key = mine.toSorted().join('\n');
    // Named for its root, for readers of stack traces; numbered, since equal names would be one chunk.
    const stem = mine.length === 1 ? path.parse(mine[0] ?? '').name : 'shared';
    const name = names.get(key) ?? `${stem}-${names.size + 1}`;
    names.set(key, name);
    return name;
  };
}

function reachedFrom(root: string, graph: Graph): ReadonlySet<string> {
  const seen = new Set<string>([root]);
  for (const id of seen) for (const next of graph.get(id)?.imports ?? []) seen.add(next);
  return seen;
}

/** By root, what is in memory when it is loaded, whichever module loads it: of an entry nothing. */
function loadedBefore(
  graph: Graph,
  reached: ReadonlyMap<string, ReadonlySet<string>>,
): ReadonlyMap<string, ReadonlySet<string>> {
  const loaders = new Map<string, Set<string>>();
  for (const [root, modules] of reached)
    for (const id of modules)
      for (const loaded of graph.get(id)?.loads ?? [])
        loaders.set(loaded, (loaders.get(loaded) ?? new Set()).add(root));
  // Begins with everything, and takes away what some loader does not have until nothing changes.
  const everything = new Set(graph.keys());
  const before = new Map<string, ReadonlySet<string>>(
    [...reached.keys()].map(root => [root, graph.get(root)?.isEntry ? new Set<string>() : everything]),
  );
  const had = (root: string) => (before.get(root) ?? new Set()).union(reached.get(root) ?? new Set());
  for (let hasChanged = true; hasChanged; ) {
    hasChanged = false;
    for (const [root, known] of before) {
      let left = known;
      for (const loader of loaders.get(root) ?? []) left = left.intersection(had(loader));
      if (left.size === known.size) continue;
      before.set(root, left);
      hasChanged = true;
    }
  }
  return before;
}
