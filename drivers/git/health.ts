/**
 * The health of a git host as this process knows it: which projects it served last, and which it did not.
 *
 * Every request to a remote counts (`watched`): of events, polls, landings and notes.
 */
import type { HealthView } from '../../src/driver/health.ts';
import { laterOf, type Nanoseconds } from '../../src/lib/clock.ts';
import type { ConnectionHealth } from '../../src/model/connection-health.ts';
import type { ProjectKey } from '../../src/model/project.ts';
import { HostFailed, type ProjectGit } from './remote-git.ts';

/** In the memory of one process, from the outcomes of its own requests. */
export interface GitHealth extends HealthView {
  /** The same git, with the outcome of each request recorded. */
  watched(project: ProjectKey, git: ProjectGit): ProjectGit;
  /** Records that an event was processed. @param missed a poll found it, and a webhook should have announced it. */
  processed(receivedAt: Nanoseconds, missed: boolean): void;
}

/** Begins as `unknown`, until the first request has ended. */
export function createHealth(): GitHealth {
  const failing = new Map<ProjectKey, HostFailed>();
  const listeners = new Set<() => void>();
  let isAsked = false;
  let lastEventAt: Nanoseconds | null = null;
  let missed = 0;

  function changed(): void {
    for (const listener of listeners) listener();
  }

  function noted(project: ProjectKey, failure: HostFailed | undefined): void {
    const before = failing.get(project);
    const same = isAsked && before?.reason === failure?.reason;
    isAsked = true;
    if (failure === undefined) failing.delete(project);
    else failing.set(project, failure);
    if (!same) changed();
  }

  async function conversation<T>(project: ProjectKey, ask: () => Promise<T>): Promise<T> {
    try {
      const answer = await ask();
      noted(project, undefined);
      return answer;
    } catch (error) {
      if (error instanceof HostFailed) noted(project, isServed(error) ? undefined : error);
      throw error;
    }
  }

  return {
    watched: (project, git) => ({
      ...git,
      refs: () => conversation(project, () => git.refs()),
      bring: wants => (wants.length === 0 ? git.bring(wants) : conversation(project, () => git.bring(wants))),
      bringRefs: refs => conversation(project, () => git.bringRefs(refs)),
      push: changes => conversation(project, () => git.push(changes)),
      note: (ref, commit, text) => conversation(project, () => git.note(ref, commit, text)),
    }),
    processed(receivedAt, isMissed) {
      lastEventAt = lastEventAt === null ? receivedAt : laterOf(lastEventAt, receivedAt);
      if (isMissed) missed += 1;
      changed();
    },
    now: () => ({ ...stateOf(isAsked, [...failing.values()]), limitedUntil: null, lastEventAt, missed }),
    onChange(listener) {
      const entry = () => listener();
      listeners.add(entry);
      return { [Symbol.dispose]: () => void listeners.delete(entry) };
    },
  };
}

/** The host answered; what it did not have, or what was too much, concerns what was asked for. */
function isServed({ reason }: HostFailed): boolean {
  return reason === 'missing-ref' || reason === 'too-large' || reason === 'aborted';
}

function stateOf(
  isAsked: boolean,
  failures: readonly HostFailed[],
): Pick<ConnectionHealth, 'state' | 'text'> {
  const [first] = failures;
  if (first === undefined)
    return isAsked ? { state: 'serving', text: 'serves' } : { state: 'unknown', text: 'not asked yet' };
  const isLimited = failures.every(({ reason }) => reason === 'limited');
  const others = failures.length > 1 ? `, and ${failures.length - 1} more` : '';
  return { state: isLimited ? 'limited' : 'failing', text: `${first.message}${others}` };
}
