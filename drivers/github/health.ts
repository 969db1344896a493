/**
 * The health of GitHub as this process knows it: which repositories it served last, and which it did not. Every call of the API
 * counts.
 */
import type { HealthView } from '../../src/driver/health.ts';
import type { HostLater } from '../../src/driver/host-later.ts';
import { laterOf, type Nanoseconds } from '../../src/lib/clock.ts';
import type { ConnectionHealth } from '../../src/model/connection-health.ts';

/** In the memory of one process. */
export interface GithubHealth extends HealthView {
  /** Records how a call ended. @param later undefined: the host served it. */
  noted(repository: string, later: HostLater | undefined): void;
  /** Records that an event was processed. @param missed a sweep found it, and a webhook should have announced it. */
  processed(receivedAt: Nanoseconds, missed: boolean): void;
  /** Records a repository that cannot be served until an operator acts, e.g. because it was renamed. @param text one line. */
  misconfigured(repository: string, text: string | undefined): void;
}

/** Most repositories kept: an outage concerns all. */
const MOST = 1_000;

/** Begins as `unknown`, until the first call has ended. @param limitedUntil as the budgets know it; null: no limit. */
export function createGithubHealth(limitedUntil: () => Nanoseconds | null): GithubHealth {
  const failing = new Map<string, Pick<HostLater, 'reason' | 'text'>>();
  const wrong = new Map<string, string>();
  const listeners = new Set<() => void>();
  let isAsked = false;
  let lastEventAt: Nanoseconds | null = null;
  let missed = 0;

  function changed(): void {
    for (const listener of listeners) listener();
  }

  return {
    noted(repository, later) {
      const same = isAsked && failing.get(repository)?.reason === later?.reason;
      isAsked = true;
      if (later === undefined) failing.delete(repository);
      else if (failing.has(repository) || failing.size < MOST) failing.set(repository, later);
      if (!same) changed();
    },
    misconfigured(repository, text) {
      const same = wrong.get(repository) === text;
      if (text === undefined) wrong.delete(repository);
      else if (wrong.has(repository) || wrong.size < MOST) wrong.set(repository, text);
      if (!same) changed();
    },
    processed(receivedAt, isMissed) {
      lastEventAt = lastEventAt === null ? receivedAt : laterOf(lastEventAt, receivedAt);
      if (isMissed) missed += 1;
      changed();
    },
    now: () => ({
      ...stateOf(isAsked, [...failing.values()], [...wrong.values()]),
      limitedUntil: limitedUntil(),
      lastEventAt,
      missed,
    }),
    onChange(listener) {
      const entry = () => listener();
      listeners.add(entry);
      return { [Symbol.dispose]: () => void listeners.delete(entry) };
    },
  };
}

function stateOf(
  isAsked: boolean,
  failures: readonly Pick<HostLater, 'reason' | 'text'>[],
  wrong: readonly string[],
): Pick<ConnectionHealth, 'state' | 'text'> {
  const texts = [...wrong, ...failures.map(({ text }) => text)];
  const [first] = texts;
  if (first === undefined)
    return isAsked ? { state: 'serving', text: 'serves' } : { state: 'unknown', text: 'not asked yet' };
  const isLimited = wrong.length === 0 && failures.every(({ reason }) => reason === 'limited');
  const others = texts.length > 1 ? `, and ${texts.length - 1} more` : '';
  return { state: isLimited ? 'limited' : 'failing', text: `${first}${others}` };
}
