/**
 * A project was created, its HEAD moved, or it was not watched for a while: its branches are read, and compared with what is remembered.
 * A branch that was never read is only remembered, unless all were read before: then it is new. Tags are not compared.
 */

import type { NewConnectionEvent } from '../../../src/driver/intake.ts';
import { type MemoryIndex, openMemoryIndex } from '../../../src/driver/memory-index.ts';
import { isMapping } from '../../../src/driver/read-mapping.ts';
import type { Json } from '../../../src/model/job.ts';
import { type GerritBranch, listGerritBranches } from './gerrit-branches.ts';
import { gerritLater } from './gerrit-later.ts';
import { DELETED_REF, refMove } from './process-ref.ts';
import type { GerritFound, GerritProcessing } from './processing.ts';
import { refIndexPrefix } from './read-ref.ts';

/** Moves of one reading, and branches remembered with it: the result has to fit into one commit of the store. */
const MOST_MOVES = 100;
const MOST_REMEMBERED = 1_000;
/** Names remembered; of a project with more no deletion is found. */
const MOST_NAMES = 5_000;

/** @throws RecordError `newer` when an upgraded process wrote the memory. */
export async function processProject(processing: GerritProcessing): Promise<GerritFound> {
  const { notification, memory, project, call, deps } = processing;
  const listed = await listGerritBranches(call, deps.api);
  if (listed.kind !== 'ok') return { later: gerritLater(listed, `project ${notification.project}`) };
  const tips = openMemoryIndex(memory, refIndexPrefix(notification.project));
  const key = `branches/${notification.project}`;
  const { moves, left } = await movesOf(listed.data, namesIn(await memory.get(key)), tips);
  const now = deps.clock.now();
  const found = moves.map(({ ref, before, after }) => {
    const tip = after === null ? null : { object: after, commit: after };
    return refMove({ project, ref, before, tip }, now);
  });
  return {
    happened: found.flatMap(({ happened }) => happened),
    changes: found.flatMap(({ changes }) => changes),
    memory: [...tips.changes(), ...(left === 0 ? [{ key, value: namesJson(listed.data) }] : [])],
    lookAgain: true,
    ...(left === 0 ? {} : { again: readAgain(processing, left) }),
    discarded: 'the configuration is compared with what was read before',
  };
}

/** Between two readings; null: not there. */
interface BranchMove {
  readonly ref: string;
  readonly before: string | null;
  readonly after: string | null;
}

/**
 * @param former all branches of an earlier reading; undefined: there was none.
 * @param tips brought up to date, but for those that are left.
 */
async function movesOf(
  branches: readonly GerritBranch[],
  former: ReadonlySet<string> | undefined,
  tips: MemoryIndex,
): Promise<{ readonly moves: readonly BranchMove[]; readonly left: number }> {
  const present = new Map<string, string | null>(
    branches.map(({ branch, commit }) => [`refs/heads/${branch}`, commit]),
  );
  for (const ref of former ?? []) if (!present.has(ref)) present.set(ref, null);
  const moves: BranchMove[] = [];
  let remembered = 0;
  let left = 0;
  for (const [ref, after] of present) {
    const known = await tips.get(ref);
    const before = known === DELETED_REF ? null : (known ?? null);
    if (before === after) continue;
    const isMove = known !== undefined || former?.has(ref) === false;
    if (isMove ? moves.length === MOST_MOVES : remembered === MOST_REMEMBERED) {
      left += 1;
      continue;
    }
    if (isMove) moves.push({ ref, before, after });
    else remembered += 1;
    await tips.set(ref, after ?? DELETED_REF);
  }
  return { moves, left };
}

function namesIn(value: Json | undefined): ReadonlySet<string> | undefined {
  if (!isMapping(value) || value.version !== 1 || !Array.isArray(value.names)) return undefined;
  return new Set(value.names.filter(name => typeof name === 'string'));
}

function namesJson(branches: readonly GerritBranch[]): Json | undefined {
  const names = branches.map(({ branch }) => `refs/heads/${branch}`).toSorted();
  return names.length > MOST_NAMES ? undefined : { version: 1, names };
}

/** Fewer are left each time, so the delivery id is new, and this ends. */
function readAgain({ event }: GerritProcessing, left: number): NewConnectionEvent {
  const { type, deliveryId, payload } = event;
  return { type, payload, deliveryId: `${deliveryId.replace(/-rest-\d+$/, '').slice(0, 80)}-rest-${left}` };
}
