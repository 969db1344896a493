/** Logs when items of a pipeline have waited long for a code host, and when they go on. */
import { millisecondsBetween, type Nanoseconds } from '../../lib/clock.ts';
import { durationText } from '../../lib/duration-text.ts';
import type { Log } from '../../lib/log.ts';
import type { HostWait } from '../../model/host-trouble.ts';
import type { PipelineState } from '../../model/pipeline-state.ts';

/** Milliseconds; a longer wait is worth an operator's attention. */
const ALARM_MS = 5 * 60_000;

/** In memory: the next holder of the pipeline logs long waits again. */
export interface HostAlarm {
  /** Call with every new state; each wait is logged once, and once when it is over. */
  observe(state: PipelineState, now: Nanoseconds): void;
}

/** @param log of the pipeline; a long wait is an error there, its end an information. */
export function createHostAlarm(log: Pick<Log, 'error' | 'info'>): HostAlarm {
  const logged = new Map<string, HostWait>();
  return {
    observe(state, now) {
      const waits = oldestWaits(state);
      for (const [key, { wait, items }] of waits) {
        const ms = millisecondsBetween(wait.since, now);
        if (ms < ALARM_MS || logged.has(key)) continue;
        logged.set(key, wait);
        log.error(
          { project: wait.project, doing: wait.doing, reason: wait.reason, tries: wait.tries, items },
          `the code host of ${wait.project} has been in trouble for ${durationText(ms)}: ${wait.text}`,
        );
      }
      for (const [key, wait] of logged) {
        if (waits.has(key)) continue;
        logged.delete(key);
        const ms = millisecondsBetween(wait.since, now);
        log.info(
          { project: wait.project, doing: wait.doing },
          `nothing waits for the code host of ${wait.project} any more, after ${durationText(ms)}`,
        );
      }
    },
  };
}

function oldestWaits({ items }: PipelineState) {
  const waits = new Map<string, { readonly wait: HostWait; readonly items: number }>();
  for (const { hostWait: wait } of items.values()) {
    if (wait === undefined) continue;
    const key = `${wait.doing} ${wait.project}`;
    const known = waits.get(key);
    const isOlder = known === undefined || BigInt(wait.since) < BigInt(known.wait.since);
    waits.set(key, { wait: isOlder ? wait : known.wait, items: (known?.items ?? 0) + 1 });
  }
  return waits;
}
