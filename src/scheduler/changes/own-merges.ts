/**
 * Our own landings, noted in the commit that requests them, so before the host knows of them. When a branch is updated to such a
 * commit later, the trace of that event links to the item that landed (`caused_by`).
 *
 * A host that merges by itself makes a commit of its own; such a landing is noted by project, branch and tree as well, and
 * recognised where the driver reports the tree of the new commit.
 *
 * One node per note, `<commit or key>-<item>-<number>`, with the time as its data. The sweeper removes it.
 */
import { addMilliseconds, type Nanoseconds } from '../../lib/clock.ts';
import { parseUuid, sha256 } from '../../lib/ids.ts';
import type { TriggerEvent } from '../../model/event.ts';
import type { LandedBranch } from '../../model/landed.ts';
import type { ReportIntent } from '../../model/report-intent.ts';
import type { SpanReference } from '../../model/span.ts';
import type { StorePaths } from '../../store/paths.ts';
import { create, type Operation, remove, type Store } from '../../store/port.ts';
import { rootSpanOf } from '../../tracing/span-ids.ts';

/** Milliseconds; the host's event comes within seconds, or when the host can be reached again. */
const KEPT = 6 * 3_600_000;

/** @param landings parent of the notes. @returns none for a report that lands nothing. */
export function landingOperations(intent: ReportIntent, landings: string): readonly Operation[] {
  const { item, parts, requestedAt } = intent;
  if (item === null) return [];
  const keys = new Set(
    parts.flatMap(({ merges, mode, tested }) => {
      if (!merges || tested === undefined) return [];
      return mode === 'api' ? [tested.commit, treeKey(tested)] : [tested.commit];
    }),
  );
  const time = new TextEncoder().encode(requestedAt);
  // Numbered: a repeated report has the same commit and item.
  return [...keys].map(key => create(`${landings}/${key}-${item}-`, time, { sequential: true }));
}

/** Roots of items by what they landed: a commit, or a tree. */
export type Landings = ReadonlyMap<string, SpanReference>;

/** The noted landings that these events may come from. */
export async function landingsOf(
  events: readonly TriggerEvent[],
  { store, paths }: { readonly store: Store; readonly paths: StorePaths },
): Promise<Landings> {
  const found = new Map<string, SpanReference>();
  const wanted = new Set(events.flatMap(keysOf));
  if (wanted.size === 0) return found;
  for (const name of (await store.children(paths.landings)) ?? []) {
    const [key = '', item = ''] = name.split('-');
    if (wanted.has(key)) found.set(key, rootSpanOf(parseUuid(item)));
  }
  return found;
}

/** Root of the item whose landing the event comes from; null: it is not one of ours. */
export function landerOf(event: TriggerEvent, landings: Landings): SpanReference | null {
  for (const key of keysOf(event)) {
    const item = landings.get(key);
    if (item !== undefined) return item;
  }
  return null;
}

function keysOf({ change, project, branch, tree }: TriggerEvent): readonly string[] {
  if (change.kind !== 'ref' || change.newCommit === null) return [];
  if (branch === null || tree === undefined) return [change.newCommit];
  return [change.newCommit, treeKey({ project, branch, tree })];
}

function treeKey({ project, branch, tree }: Pick<LandedBranch, 'project' | 'branch' | 'tree'>): string {
  return sha256(JSON.stringify([project, branch, tree])).slice(0, 40);
}

/** Removals of notes that are older than six hours. Any of them may fail, when its note is gone already. */
export async function outdatedLandings(
  store: Store,
  landings: string,
  now: Nanoseconds,
): Promise<readonly Operation[]> {
  const oldest = BigInt(addMilliseconds(now, -KEPT));
  const paths = ((await store.children(landings)) ?? []).map(name => `${landings}/${name}`);
  const nodes = await store.getMany(paths);
  return paths.filter((_, index) => isOlder(nodes[index]?.data, oldest)).map(path => remove(path));
}

function isOlder(data: Uint8Array | undefined, oldest: bigint): boolean {
  if (data === undefined) return false;
  const text = new TextDecoder().decode(data);
  // Not a bare time: an upgraded process wrote it and will sweep it.
  return /^\d+$/.test(text) && BigInt(text) < oldest;
}
