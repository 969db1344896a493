/** The record of a buildset's waits of one kind: one entry for each time a job could have started but for what it waits for. */
import type { Nanoseconds } from '../lib/clock.ts';
import type { Uuid } from '../lib/ids.ts';
import type { BuildSet } from '../model/build-set.ts';
import type { JobName } from '../model/project.ts';
import type { TurnDraft } from './turn-draft.ts';

interface JobWait<Outcome> {
  readonly uuid: Uuid;
  readonly job: JobName;
  readonly since: Nanoseconds;
  readonly ended: null | { readonly at: Nanoseconds; readonly outcome: Outcome };
}

/**
 * Begins and ends waits. One that began and ends in the same turn was none.
 *
 * @param due every job that waits for nothing else, with what its record says of it.
 * @param outcomeOf a wait of the job that ends now.
 * @returns undefined: nothing changes.
 */
export function waitsAfter<Outcome, Wait extends JobWait<Outcome | 'given-up'>>(
  draft: TurnDraft,
  known: readonly Wait[],
  due: ReadonlyMap<JobName, Omit<Wait, keyof JobWait<Outcome>>>,
  outcomeOf: (job: JobName) => Outcome | 'given-up',
): readonly Wait[] | undefined {
  const waiting = new Set(known.filter(({ ended }) => ended === null).map(({ job }) => job));
  if (due.size === 0 && waiting.size === 0) return undefined;
  const now = draft.input.now;
  const kept = known.flatMap(wait => {
    if (wait.ended !== null || due.has(wait.job)) return [wait];
    return wait.since === now ? [] : [{ ...wait, ended: { at: now, outcome: outcomeOf(wait.job) } }];
  });
  const begun = [...due]
    .filter(([job]) => !waiting.has(job))
    .map(([job, facts]) => ({ uuid: draft.input.ids.uuid(), job, since: now, ...facts, ended: null }));
  // A Wait is its facts and what all waits have.
  const all = [...kept, ...(begun as unknown as readonly Wait[])];
  return all.length === known.length && all.every((wait, index) => wait === known[index]) ? undefined : all;
}

/** The job was requested just now. */
export function isRequested({ builds }: Pick<BuildSet, 'builds'>, job: JobName): boolean {
  return builds.findLast(each => each.job === job)?.state.state === 'requested';
}
