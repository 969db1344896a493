/**
 * Merges of ours, noted in the commit that asks for them, so before the host hears of them: when a branch then goes to such a
 * commit, the event that tells of it is our own doing, and its trace links to the item that did it (`caused_by`).
 *
 * One node per merge, `<commit>-<item>-<number>`, with the time in it. Nobody waits for it; the sweeper removes it.
 */
import { addMilliseconds, type Nanoseconds } from '../../lib/clock.ts';
import { parseUuid } from '../../lib/ids.ts';
import type { SpanReference, TriggerEvent } from '../../model/event.ts';
import type { ReportIntent } from '../../model/report-intent.ts';
import type { StorePaths } from '../../store/paths.ts';
import { create, type Operation, remove, type Store } from '../../store/port.ts';
import { rootSpanOf } from '../../tracing/span-ids.ts';

/** Milliseconds; the host tells within seconds, or when it can be reached again. */
const KEPT = 6 * 3_600_000;

export function landingOperations(intent: ReportIntent, landings: string): readonly Operation[] {
  const { item, parts, requestedAt } = intent;
  if (item === null) return [];
  const commits = new Set(
    parts.flatMap(({ merges, tested }) => (merges && tested !== undefined ? [tested.commit] : [])),
  );
  const time = new TextEncoder().encode(requestedAt);
  // Numbered: a report that is asked for again has the same commit and item.
  return [...commits].map(commit => create(`${landings}/${commit}-${item}-`, time, { sequential: true }));
}

/** Root of the item by the commit a branch went to, of those the events tell of. */
export async function landingsOf(
  events: readonly TriggerEvent[],
  { store, paths }: { readonly store: Store; readonly paths: StorePaths },
): Promise<ReadonlyMap<string, SpanReference>> {
  const found = new Map<string, SpanReference>();
  const commits = new Set<string>(
    events.flatMap(({ change }) =>
      change.kind === 'ref' && change.newCommit !== null ? [change.newCommit] : [],
    ),
  );
  if (commits.size === 0) return found;
  for (const name of (await store.children(paths.landings)) ?? []) {
    const [commit = '', item = ''] = name.split('-');
    if (commits.has(commit)) found.set(commit, rootSpanOf(parseUuid(item)));
  }
  return found;
}

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
  // Not a bare time: an upgraded process wrote it, and will sweep it.
  return /^\d+$/.test(text) && BigInt(text) < oldest;
}
