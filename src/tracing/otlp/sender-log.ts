/** What the sender says to the operator: each kind of trouble once in a while, however often it happens; the rest is counted. */
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';

export interface SenderLog {
  waits(error: string): void;
  worksAgain(after: number): void;
  partial(rejected: number, answer: string): void;
  lost(reason: string, spans: number, error: string): void;
}

/** The same kind of trouble is not told again before that. */
const QUIET_MS = 300_000;

export function senderLog(log: Log, clock: Pick<Clock, 'monotonic'>): SenderLog {
  const told = new Map<string, number>();
  const seldom = (kind: string, tell: () => void) => {
    const before = told.get(kind);
    if (before !== undefined && clock.monotonic() - before < QUIET_MS) return;
    told.set(kind, clock.monotonic());
    tell();
  };
  return {
    waits: error => log.warn({ error }, 'the collector does not take spans; they wait in the outbox'),
    worksAgain: after => log.info({ after }, 'the collector takes spans again'),
    partial: (rejected, answer) =>
      seldom('partial', () =>
        log.warn(
          { rejected, answer },
          'the collector took only a part of the spans; for some minutes further cases are only counted',
        ),
      ),
    lost: (reason, spans, error) =>
      seldom(reason, () =>
        log.warn(
          { reason, spans, error },
          'spans are lost; for some minutes further ones of that reason are only counted',
        ),
      ),
  };
}
