/** Says in the log when items of a pipeline have waited for a code host for long, and when they go on. */
import { millisecondsBetween, type Nanoseconds } from '../../lib/clock.ts';
import { durationText } from '../../lib/duration-text.ts';
import type { Log } from '../../lib/log.ts';
import type { HostWait } from '../../model/host-trouble.ts';
import type { PipelineState } from '../../model/pipeline-state.ts';

/** A wait that is longer is worth an operator's attention. */
const ALARM_MS = 5 * 60_000;

export interface HostAlarm {
  /** Call with every new state; each wait is told once, and once when it is over. */
  look(state: PipelineState, now: Nanoseconds): void;
}

export function createHostAlarm(log: Pick<Log, 'error' | 'info'>): HostAlarm {
  const told = new Map<string, HostWait>();
  return {
    look(state, now) {
      const waits = oldestWaits(state);
      for (const [key, { wait, items }] of waits) {
        const ms = millisecondsBetween(wait.since, now);
        if (ms < ALARM_MS || told.has(key)) continue;
        told.set(key, wait);
        log.error(
          { project: wait.project, doing: wait.doing, reason: wait.reason, tries: wait.tries, items },
          `the code host of ${wait.project} has been in trouble for ${durationText(ms)}: ${wait.text}`,
        );
      }
      for (const [key, wait] of told) {
        if (waits.has(key)) continue;
        told.delete(key);
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
