/**
 * The health of a host as this process knows it: which repositories it served last, and which it did not. A driver notes how each
 * of its requests ended.
 *
 *     const health = createHostHealth(() => null);
 *     health.noted('acme/app', undefined);                                        // serving
 *     health.noted('acme/app', { reason: 'limited', text: 'the limit is used up' })  // limited
 */
import { laterOf, type Nanoseconds } from '../lib/clock.ts';
import { createListeners } from '../lib/listeners.ts';
import type { ConnectionHealth, HostFault } from '../model/connection-health.ts';
import type { HealthView } from './health.ts';
import type { HostLater } from './host-later.ts';

type Trouble = Pick<HostLater, 'reason' | 'text'>;

/** In the memory of one process. */
export interface HostHealth extends HealthView {
  /** Records how a request ended. @param trouble undefined: the host served it. */
  noted(repository: string, trouble: Trouble | undefined): void;
  /** Records that an event was processed. @param missed a sweep or a poll found it, and a webhook should have announced it. */
  processed(receivedAt: Nanoseconds, missed: boolean): void;
  /**
   * Records what an operator has to mend, e.g. that a repository was renamed; warnings leave the state as it is.
   *
   * @param subject names it until it is mended. @param fault undefined: it is.
   */
  misconfigured(subject: string, fault: HostFault | undefined): void;
}

/** Most repositories kept: an outage concerns all. */
const MOST = 1_000;
/** Faults shown. */
const MOST_SHOWN = 20;

/** Begins as `unknown`, until the first request has ended. @param limitedUntil as the host said; null: no limit, or it said none. */
export function createHostHealth(limitedUntil: () => Nanoseconds | null): HostHealth {
  const failing = new Map<string, Trouble>();
  const wrong = new Map<string, HostFault>();
  const listeners = createListeners();
  let isAsked = false;
  let lastEventAt: Nanoseconds | null = null;
  let missed = 0;

  return {
    noted(repository, trouble) {
      const same = isAsked && failing.get(repository)?.reason === trouble?.reason;
      isAsked = true;
      if (trouble === undefined) failing.delete(repository);
      else if (failing.has(repository) || failing.size < MOST) failing.set(repository, trouble);
      if (!same) listeners.call();
    },
    misconfigured(subject, fault) {
      const same = wrong.get(subject)?.text === fault?.text;
      if (fault === undefined) wrong.delete(subject);
      else if (wrong.has(subject) || wrong.size < MOST) wrong.set(subject, fault);
      if (!same) listeners.call();
    },
    processed(receivedAt, isMissed) {
      lastEventAt = lastEventAt === null ? receivedAt : laterOf(lastEventAt, receivedAt);
      if (isMissed) missed += 1;
      listeners.call();
    },
    now: () => ({
      ...stateOf(isAsked, [...failing.values()], errorsAmong(wrong.values())),
      limitedUntil: limitedUntil(),
      lastEventAt,
      missed,
      faults: [...wrong.values()].slice(0, MOST_SHOWN),
    }),
    onChange: listeners.add,
  };
}

function errorsAmong(faults: Iterable<HostFault>): readonly string[] {
  return [...faults].filter(({ severity }) => severity === 'error').map(({ text }) => text);
}

function stateOf(
  isAsked: boolean,
  failures: readonly Trouble[],
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
