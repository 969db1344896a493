/**
 * Changes that are built on an older patch set of this one. Gerrit announces nothing of them, and would refuse to submit them: their
 * records are brought up to date with this one's new patch set, or with its being abandoned or restored.
 */
import { isMapping } from '../../../src/driver/read-mapping.ts';
import type { Nanoseconds } from '../../../src/lib/clock.ts';
import { type ChangeKey, type ChangeRecord, changeKey } from '../../../src/model/change.ts';
import { type ProjectKey, projectIdOf } from '../../../src/model/project.ts';
import { mappingsOf, wholeOf } from '../api/info-json.ts';
import type { GerritAnswer, GerritApi, GerritCall } from '../api/port.ts';
import { gerritFactsOf } from '../language/change-facts.ts';
import type { ChangeMemory } from './change-memory.ts';

/** Related changes looked at. */
const MOST = 200;

/** One change between two readings. */
interface ParentReadings {
  readonly project: ProjectKey;
  readonly number: number;
  readonly known: ChangeMemory | undefined;
  readonly now: ChangeMemory;
  readonly readAt: Nanoseconds;
  readonly record: (key: ChangeKey) => ChangeRecord | undefined;
}

/** One request, and only after a new patch set or another status. @returns records that differ. */
export async function readOutdatedChildren(
  readings: ParentReadings,
  call: GerritCall,
  api: GerritApi,
): Promise<GerritAnswer<readonly ChangeRecord[]>> {
  const { known, now, number, project } = readings;
  const isSame = known === undefined || (known.revision === now.revision && known.status === now.status);
  if (isSame || now.status === 'MERGED') return { kind: 'ok', status: 200, data: [] };
  const path = `changes/${number}/revisions/current/related`;
  const answer = await api.ask({ operation: 'changes/related', method: 'GET', path }, call);
  // A change that was visible just now, and is not any more, is read again with the next event.
  if (answer.kind === 'refused') return { kind: 'ok', status: answer.status, data: [] };
  if (answer.kind !== 'ok') return answer;
  const { name } = projectIdOf(project);
  const related = isMapping(answer.data) ? mappingsOf(answer.data.changes, MOST) : [];
  const children = new Set(
    related
      .filter(each => each.project === undefined || each.project === name)
      .map(each => wholeOf(each._change_number)),
  );
  const records = [...children].flatMap(child =>
    child === null || child === number ? [] : (childRecord(child, readings) ?? []),
  );
  return { ...answer, data: records };
}

/** Undefined: it is not built on this change, or knows already. */
function childRecord(
  child: number,
  { project, number, now, readAt, record }: ParentReadings,
): ChangeRecord | undefined {
  const stored = record(changeKey(project, String(child)));
  const facts = stored?.status === 'open' ? gerritFactsOf(stored) : undefined;
  if (stored === undefined || facts === undefined) return undefined;
  const { patchset: currentPatchset, status } = now;
  const isOutdated = (parent: (typeof facts.parents)[number]) =>
    parent.number === number && (parent.currentPatchset !== currentPatchset || parent.status !== status);
  if (!facts.parents.some(isOutdated)) return undefined;
  const parents = facts.parents.map(parent =>
    parent.number === number ? { ...parent, currentPatchset, status } : parent,
  );
  return { ...stored, facts: JSON.parse(JSON.stringify({ ...facts, parents })), fetchedAt: readAt };
}
