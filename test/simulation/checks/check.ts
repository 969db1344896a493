/**
 * What a check is: it watches a run and complains, with the number of the invariant that is broken:
 *
 *     gating 1, 2, 6, 7, 9   decisions, read back from what was committed            pipeline-history.ts
 *     I1 I2 I3 I10           what lands at the code host, and who may ask it to      landings.ts
 *     I5 I6 I7 I8            events: durable, once, never lost, never quarantined    events.ts
 *     I9                     no two holders of one fence                             fences.ts
 *     I11                    everything comes to rest, and goes on working           ../run.ts, ../quiet.ts
 *     I12 I13 I30            spans and history: one root each, equal copies          traces.ts
 *     I15                    a build runs once; its holder alone says the result     workers.ts
 *     whole                  of a trace everything arrives, or nothing               whole-traces.ts
 *     times                  an item's whole time and every takeover is reported    reported-times.ts
 *     landing                merges of ours are noted before the host hears of them  landings.ts
 *     sender                 who sends spans says how that fares                     sender-report.ts
 *     leak                   what must not be left behind                            leaks.ts
 */
import type { Transaction } from '../store/server.ts';

export interface Violation {
  /** See above, e.g. `I9`; or `scenario`, `exit`, `unhandled`. */
  readonly invariant: string;
  readonly at: number;
  readonly text: string;
}

export type Complain = (invariant: string, text: string) => void;

export interface Check {
  /** After each committed write. */
  committed?(transaction: Transaction): void;
  /** Everything has come to rest. */
  finished?(): void;
}
