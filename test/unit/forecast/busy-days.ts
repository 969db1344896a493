/**
 * Days of a busy pipeline in virtual time: the pure core decides, and changes, mergers, executors and the host have random but
 * repeatable durations. What it leaves behind are items as the service records them.
 */

import { type Random, random } from '../../../src/forecast/random.ts';
import { type Nanoseconds, toMilliseconds } from '../../../src/lib/clock.ts';
import type { PipelineEvent } from '../../../src/model/event.ts';
import type { QueueItem } from '../../../src/model/queue-item.ts';
import { job, nameOf, type PipelineSetup, type PipelineWorld, World } from '../pipeline/world.ts';

interface BusySetup {
  readonly seed: number;
  readonly changes: number;
  /** Mean of the time between two changes, in milliseconds. */
  readonly every: number;
  /** Share of changes whose integration test fails, each time it runs. */
  readonly bad: number;
  readonly pipeline?: PipelineSetup;
  /** Stops the clock: called after each turn. */
  readonly watch?: (gate: PipelineWorld, now: number) => void;
}

const MINUTE = 60_000;
/** Usual duration, and how far durations spread. */
const JOBS = {
  lint: { usual: 2 * MINUTE, spread: 0.15 },
  unit: { usual: 9 * MINUTE, spread: 0.2 },
  integration: { usual: 22 * MINUTE, spread: 0.3 },
} as const;

/** @returns the pipeline when the last change has left. */
export function busyDays({ seed, changes, every, bad, pipeline, watch }: BusySetup): PipelineWorld {
  const draw = random(seed);
  const world = new World();
  const gate = world.pipeline('gate', { manager: 'dependent', ...pipeline });
  world.jobs('app', [
    job('lint'),
    job('unit', { dependencies: [{ name: 'lint', soft: false }] }),
    job('integration', { dependencies: [{ name: 'lint', soft: false }] }),
  ]);
  const due: { readonly at: number; readonly event: () => PipelineEvent | null }[] = [];
  const now = () => toMilliseconds(world.now);
  const later = (ms: number, event: () => PipelineEvent | null) => due.push({ at: now() + ms, event });
  const wrong = new Set<string>();
  let arrival = 0;
  for (let number = 0; number < changes; number++) {
    const name = `c${number}`;
    arrival += -Math.log(1 - draw()) * every;
    if (draw() < bad) wrong.add(name);
    later(arrival, () => {
      world.change(name, { project: 'app' });
      return gate.enqueueEvent(name);
    });
  }
  const taken = new Set<string>();
  for (;;) {
    due.sort((a, b) => a.at - b.at);
    const next = due.shift();
    if (next === undefined) return gate;
    world.pass(Math.max(1, next.at - now()));
    const event = next.event();
    if (event === null) continue;
    gate.turn([event]);
    watch?.(gate, now());
    answerLater(gate, { taken, wrong, draw, later });
  }
}

interface Answers {
  readonly taken: Set<string>;
  readonly wrong: ReadonlySet<string>;
  readonly draw: Random;
  readonly later: (ms: number, event: () => PipelineEvent | null) => void;
}

/** Everything the turn asked for is answered in its time, unless it was withdrawn meanwhile. */
function answerLater(gate: PipelineWorld, { taken, wrong, draw, later }: Answers): void {
  const isNew = (uuid: string) => !taken.has(uuid) && taken.add(uuid) !== undefined;
  for (const merge of gate.merges.filter(({ request }) => isNew(request)))
    later(1000 + draw() * 4000, () => (gate.merges.includes(merge) ? gate.mergeEvent(merge) : null));
  for (const build of gate.builds.filter(each => isNew(each.build))) {
    const { usual, spread } = JOBS[build.job as keyof typeof JOBS];
    const wait = 2000 + draw() * 40_000;
    const ms = usual * Math.exp(spread * 2 * (draw() + draw() + draw() - 1.5));
    const fails = build.job === 'integration' && wrong.has(nameOf(build.item));
    const ifWanted = (make: () => PipelineEvent) => () => (gate.builds.includes(build) ? make() : null);
    later(
      wait,
      ifWanted(() => gate.startEvent(build)),
    );
    later(
      wait + ms,
      ifWanted(() => gate.resultEvent(build, fails ? 'FAILURE' : 'SUCCESS')),
    );
  }
  for (const report of gate.reports.filter(each => isNew(each.report)))
    later(500 + draw() * 3000, () => gate.reportEvent(report));
}

/** A gate at its fullest, when fifty changes have left: what is queued then, and all that had left, before and after. */
export function busyMoment(): {
  readonly at: Nanoseconds;
  readonly queued: readonly QueueItem[];
  readonly left: readonly QueueItem[];
} {
  const moments: { readonly at: Nanoseconds; readonly queued: readonly QueueItem[] }[] = [];
  const gate = busyDays({
    seed: 3,
    changes: 60,
    every: 9 * MINUTE,
    bad: 0.05,
    watch: ({ world, left, state }) => {
      if (left.length >= 50) moments.push({ at: world.now, queued: [...state.items.values()] });
    },
  });
  const fullest = moments.reduce((a, b) => (b.queued.length > a.queued.length ? b : a));
  const there = new Set(fullest.queued.map(({ uuid }) => uuid));
  return { ...fullest, left: gate.left.filter(({ uuid }) => !there.has(uuid)) };
}
