/** Which process is to be struck, how, and while it does what: by seed, each kind of blow once before one comes again. */
import type { Cluster } from './cluster.ts';
import { fencesUsed } from './store-replay.ts';
import { type Blow, type Choice, claimers, writers } from './strike.ts';
import { gateFence, type TermWatch } from './term-watch.ts';

export interface PlannedBlow {
  readonly how: Blow;
  readonly choose: Choice;
  /** Transactions it comes later than what it waits for. */
  readonly delay: number;
}

/** Executors, mergers and webs first, killed and frozen; from the seventh on schedulers, too. */
export function dealBlows(
  cluster: Cluster,
  terms: TermWatch,
  random: () => number,
  count: number,
): readonly PlannedBlow[] {
  const stored = writers(cluster, terms, `${cluster.storeRoot}/events/connection/local/queue/`);
  const atWork: readonly (readonly [choose: Choice, spread: number])[] = [
    [claimers(cluster, terms, 'build'), 12],
    [claimers(cluster, terms, 'merge'), 2],
    [stored, 2],
  ];
  const inCharge: Choice = transaction =>
    fencesUsed(transaction).includes(gateFence(cluster)) ? terms.holder(gateFence(cluster)) : undefined;
  const dealt: PlannedBlow[] = [];
  while (dealt.length < count) {
    const kinds = dealt.length === 0 ? atWork : [...atWork, [inCharge, 12] as const];
    const round = kinds.flatMap(([choose, spread]) =>
      (['kill', 'freeze'] as const).map(how => ({
        how,
        choose,
        delay: Math.floor(random() * spread),
        place: random(),
      })),
    );
    dealt.push(...round.sort((a, b) => a.place - b.place));
  }
  return dealt.slice(0, count);
}
