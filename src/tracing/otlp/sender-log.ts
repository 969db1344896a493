/** The sender's log lines: each kind of problem at most once in {@link QUIET_MS}; the rest is only counted. */
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { TRACE_FAULTS } from '../../model/trace-health.ts';
import type { FaultyTrace } from './trace-judge.ts';

/** Errors are texts of the collector without passwords; they are logged as they are. */
export interface SenderLog {
  /** Once per outage, not once per attempt. */
  waits(error: string): void;
  /** @param after number of failures in a row before. */
  worksAgain(after: number): void;
  /** @param rejected 0: the collector only sent a warning. */
  partial(rejected: number, answer: string): void;
  /** Limited by reason: the first loss for another reason is logged at once. */
  lost(reason: string, spans: number, error: string): void;
  /** Limited by the kind of fault. */
  faulty(trace: FaultyTrace): void;
}

/** Minimum time between two lines about the same kind of problem. */
const QUIET_MS = 300_000;

/** @param clock monotonic, so that a step of the wall clock neither silences nor repeats lines. */
export function senderLog(log: Log, clock: Pick<Clock, 'monotonic'>): SenderLog {
  const logged = new Map<string, number>();
  const limited = (kind: string, write: () => void) => {
    const before = logged.get(kind);
    if (before !== undefined && clock.monotonic() - before < QUIET_MS) return;
    logged.set(kind, clock.monotonic());
    write();
  };
  return {
    waits: error => log.warn({ error }, 'the collector does not take spans; they wait in the outbox'),
    worksAgain: after => log.info({ after }, 'the collector takes spans again'),
    partial: (rejected, answer) =>
      limited('partial', () =>
        log.warn(
          { rejected, answer },
          'the collector took only a part of the spans; for some minutes further cases are only counted',
        ),
      ),
    lost: (reason, spans, error) =>
      limited(reason, () =>
        log.warn(
          { reason, spans, error },
          'spans are lost; for some minutes further ones of that reason are only counted',
        ),
      ),
    faulty: ({ fault, traceId, span }) =>
      limited(fault, () =>
        log.warn(
          { trace: traceId, span },
          `a trace is not whole: ${TRACE_FAULTS[fault]}; for some minutes further ones are only counted`,
        ),
      ),
  };
}
