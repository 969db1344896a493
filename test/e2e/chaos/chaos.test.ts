/**
 * Chaos by seed: processes are killed, stopped and frozen, the code host answers 403 and 5xx, hangs, locks its refs, loses replies
 * and packs, webhooks flood, changes come in bursts. Every good change lands, once, in the state that was tested; every item has
 * one root span.
 *
 * Two short runs, one on each store. GATEHOUSE_CHAOS_SEEDS=20 makes it twenty seeds each, GATEHOUSE_CHAOS_SEED draws others,
 * GATEHOUSE_CHAOS_FAULTS makes them longer.
 */
import { describe, expect, test } from 'vitest';
import { describeOnZooKeeper } from '../../setup/zookeeper.ts';
import { runChaos } from './run-chaos.ts';

const FIRST = Number(process.env.GATEHOUSE_CHAOS_SEED ?? 20_261_122);
const SEEDS = Array.from(
  { length: Number(process.env.GATEHOUSE_CHAOS_SEEDS ?? 1) },
  (_, index) => FIRST + index,
);
const FAULTS = Number(process.env.GATEHOUSE_CHAOS_FAULTS ?? 6);
const CHANGES = 10;

const print = (line: string) => void process.stdout.write(`${line}\n`);

describeOnZooKeeper('chaos with three schedulers, two mergers, two executors and two webs', () => {
  test.each(SEEDS)(
    'seed %i costs no good change, lands none twice or untested',
    { timeout: 900_000 },
    async seed => {
      print(`seed ${seed} on ZooKeeper`);
      expect(await runChaos({ seed, store: 'zookeeper', changes: CHANGES, faults: FAULTS, print })).toEqual(
        [],
      );
    },
  );
});

describe('chaos with everything in one process', () => {
  test.each(SEEDS)(
    'seed %i costs no good change, lands none twice or untested',
    { timeout: 900_000 },
    async seed => {
      print(`seed ${seed} on the embedded store`);
      expect(await runChaos({ seed, store: 'embedded', changes: CHANGES, faults: FAULTS, print })).toEqual(
        [],
      );
    },
  );
});
