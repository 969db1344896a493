/**
 * A branch or tag moved: it is read, and compared with where it was at the last reading. Several moves that are read at once are one.
 * Our own submits move branches as any other: what they landed is recognised by the caller.
 */
import { nothingFound } from '../../../src/driver/host-finding.ts';
import { openMemoryIndex } from '../../../src/driver/memory-index.ts';
import { refUpdate, refUpdateRecord } from '../../../src/driver/ref-update.ts';
import type { Nanoseconds } from '../../../src/lib/clock.ts';
import type { ProjectKey } from '../../../src/model/project.ts';
import type { GerritNotification } from '../intake/notification.ts';
import { gerritLater } from './gerrit-later.ts';
import type { GerritFinding, GerritFound, GerritProcessing } from './processing.ts';
import { type GerritTip, REF_FACTS, readGerritTip, refIndexPrefix } from './read-ref.ts';

type RefAbout = Extract<GerritNotification['about'], { readonly kind: 'ref' }>;

/** Remembered of a ref that is gone: its deletion was reported. */
export const DELETED_REF = 'deleted';

/** @throws RecordError `newer` when an upgraded process wrote the memory. */
export async function processGerritRef(about: RefAbout, processing: GerritProcessing): Promise<GerritFound> {
  const { event, notification, memory, project, call, deps } = processing;
  const { ref } = about;
  const tips = openMemoryIndex(memory, refIndexPrefix(notification.project));
  const known = await tips.get(ref);
  const read = await readGerritTip(ref, call, deps.api);
  if (read.kind !== 'ok') return { later: gerritLater(read, `project ${notification.project}`) };
  const tip = read.data;
  const object = tip?.object ?? null;
  // Gerrit still shows where the ref was before.
  if (object !== about.after && object === about.before) {
    const later = deps.staleReads.again(event.uuid, ref);
    if (later !== undefined) return { later };
  }
  const before = known === undefined ? about.before : remembered(known);
  if (known !== undefined && before === object) return nothingFound('the ref is as it was');
  await tips.set(ref, object ?? DELETED_REF);
  if (before === null && tip === null) return nothingFound('the ref is gone again', tips.changes());
  const { happened, changes } = refMove({ project, ref, before, tip }, deps.clock.now());
  return { happened, changes, memory: tips.changes() };
}

function remembered(known: string): string | null {
  return known === DELETED_REF ? null : known;
}

/** A ref between two readings. */
interface RefMove {
  readonly project: ProjectKey;
  readonly ref: string;
  /** Null: it was not there. */
  readonly before: string | null;
  readonly tip: GerritTip;
}

/** What a move of a ref is to pipelines. */
export function refMove(
  { project, ref, before, tip }: RefMove,
  now: Nanoseconds,
): Pick<GerritFinding, 'happened' | 'changes'> {
  const change = refUpdate(project, { ref, before, after: tip?.commit ?? null });
  const { branch } = change;
  const happening = {
    type: 'ref-updated',
    change,
    facts: { by: null },
    configMayHaveChanged: branch === undefined || tip === null ? [] : [branch],
    branchesChanged: branch !== undefined && (before === null || tip === null),
  };
  return { happened: [happening], changes: [refUpdateRecord(change, REF_FACTS, now)] };
}
