/**
 * What goes wrong in a run, as a list: made from a seed, printed when a run fails, shortened to find the culprit. Each seed
 * draws a few kinds only, so that combinations differ more than an even mixture would.
 */

import { inLockOrder } from '../../src/store/lock.ts';
import { remove } from '../../src/store/port.ts';
import type { Random } from './kernel/random.ts';
import { stream } from './kernel/random.ts';
import { TENANT } from './site.ts';
import type { World } from './world.ts';
import { SESSION_TIMEOUT } from './world.ts';

export type Fault = { readonly at: number } & (
  | { readonly kind: 'crash'; readonly process: string; readonly restartMs: number }
  | { readonly kind: 'restart'; readonly process: string }
  | { readonly kind: 'pause'; readonly process: string; readonly ms: number }
  | {
      readonly kind: 'cut';
      readonly process: string;
      readonly ms: number;
      readonly direction: 'both' | 'replies';
    }
  | { readonly kind: 'break'; readonly process: string }
  | { readonly kind: 'expire'; readonly process: string }
  | { readonly kind: 'slow'; readonly process: string; readonly ms: number; readonly factor: number }
  | { readonly kind: 'store-loss'; readonly ms: number; readonly rate: number }
  | { readonly kind: 'store-down'; readonly ms: number }
  | { readonly kind: 'lag'; readonly replica: number; readonly ms: number; readonly lagMs: number }
  | { readonly kind: 'host-trouble'; readonly ms: number; readonly rate: number }
  | { readonly kind: 'down'; readonly remote: 'host' | 'collector' | 'sql'; readonly ms: number }
  | { readonly kind: 'clock'; readonly process: string; readonly offsetMs: number }
  /** An operator removes the lock of a pipeline by hand while its holder lives. */
  | { readonly kind: 'lock-removed'; readonly pipeline: string }
  /** A request for a worker vanishes: what should never happen, and is noticed. */
  | { readonly kind: 'request-removed'; readonly queue: 'merge' | 'build' }
);

export const FAULT_KINDS = [
  'crash',
  'restart',
  'pause',
  'cut',
  'break',
  'expire',
  'slow',
  'store-loss',
  'store-down',
  'lag',
  'host-trouble',
  'down',
  'clock',
  'lock-removed',
  'request-removed',
] as const satisfies readonly Fault['kind'][];

/**
 * @param until milliseconds in which faults begin.
 * @param only these kinds, in place of a few by chance.
 */
export function randomFaults(
  seed: number,
  names: readonly string[],
  until: number,
  only?: readonly Fault['kind'][],
): readonly Fault[] {
  const random = stream(seed, 'faults');
  const wanted = 1 + random.int(5);
  const kinds = only ?? FAULT_KINDS.toSorted(() => random.next() - 0.5).slice(0, wanted);
  const schedulers = names.filter(name => name.startsWith('scheduler'));
  const faults: Fault[] = [];
  for (const kind of kinds) {
    const times = 1 + random.int(6);
    for (let index = 0; index < times; index += 1) {
      // Schedulers are where most can go wrong.
      const process = random.chance(0.5) ? random.pick(schedulers) : random.pick(names);
      faults.push(faultOf(kind, process, random.range(500, until), random));
    }
  }
  return faults.sort((a, b) => a.at - b.at);
}

function faultOf(kind: Fault['kind'], process: string, at: number, random: Random): Fault {
  switch (kind) {
    case 'crash':
      return { at, kind, process, restartMs: random.pick([10, 200, 1_000, SESSION_TIMEOUT * 1.5, 20_000]) };
    case 'restart':
    case 'break':
    case 'expire':
      return { at, kind, process };
    case 'pause':
      return {
        at,
        kind,
        process,
        ms: random.pick([100, 1_500, SESSION_TIMEOUT * 0.6, SESSION_TIMEOUT * 3, 60_000]),
      };
    case 'cut':
      return {
        at,
        kind,
        process,
        ms: random.pick([200, 1_500, SESSION_TIMEOUT * 0.7, SESSION_TIMEOUT * 2]),
        direction: random.pick(['both', 'replies'] as const),
      };
    case 'slow':
      return { at, kind, process, ms: random.range(2_000, 30_000), factor: random.pick([10, 50, 300]) };
    case 'store-loss':
      return { at, kind, ms: random.range(1_000, 20_000), rate: random.pick([0.01, 0.05, 0.2]) };
    case 'store-down':
      return { at, kind, ms: random.pick([500, 2_000, SESSION_TIMEOUT * 0.7, SESSION_TIMEOUT * 2, 40_000]) };
    case 'lag':
      return {
        at,
        kind,
        replica: random.int(3),
        ms: random.range(2_000, 40_000),
        lagMs: random.pick([20, 300, 3_000]),
      };
    case 'host-trouble':
      return { at, kind, ms: random.range(2_000, 30_000), rate: random.pick([0.1, 0.4]) };
    case 'down':
      return {
        at,
        kind,
        remote: random.pick(['host', 'collector', 'sql'] as const),
        ms: random.range(1_000, 60_000),
      };
    case 'clock':
      return { at, kind, process, offsetMs: random.pick([-3_600_000, -500, 2_000, 3_600_000]) };
    case 'request-removed':
      return { at, kind, queue: random.pick(['merge', 'build'] as const) };
    case 'lock-removed':
      return { at, kind, pipeline: random.pick(['check', 'gate', 'post']) };
  }
}

export function scheduleFaults(faults: readonly Fault[], world: World): void {
  for (const fault of faults)
    world.kernel.at(fault.at, undefined, `fault ${fault.kind}`, () => strike(fault, world));
}

function strike(fault: Fault, world: World): void {
  const { kernel, weather, server } = world;
  kernel.note(`⚡ ${faultText(fault)}`);
  const later = (ms: number, undo: () => void) => kernel.after(ms, undefined, `end of ${fault.kind}`, undo);
  switch (fault.kind) {
    case 'crash':
      world.crash(fault.process, fault.restartMs);
      return;
    case 'restart':
      world.restart(fault.process);
      return;
    case 'pause':
      world.pause(fault.process, fault.ms);
      return;
    case 'cut':
      for (const session of world.sessionsOf(fault.process)) session.cut(fault.ms, fault.direction);
      return;
    case 'break':
      for (const session of world.sessionsOf(fault.process)) session.break('the connection was reset');
      return;
    case 'expire':
      for (const session of world.sessionsOf(fault.process)) session.expire();
      return;
    case 'slow':
      weather.slow.set(fault.process, fault.factor);
      later(fault.ms, () => weather.slow.delete(fault.process));
      return;
    case 'store-loss':
      weather.rates.storeLoss = fault.rate;
      later(fault.ms, () => {
        weather.rates.storeLoss = 0;
      });
      return;
    case 'store-down':
      for (const name of world.names)
        for (const session of world.sessionsOf(name)) session.cut(fault.ms, 'both');
      return;
    case 'lag':
      server.setLag(fault.replica, fault.lagMs);
      later(fault.ms, () => server.setLag(fault.replica, 0));
      return;
    case 'host-trouble':
      weather.rates.hostTrouble = fault.rate;
      later(fault.ms, () => {
        weather.rates.hostTrouble = 0;
      });
      return;
    case 'down':
      weather.down.add(fault.remote);
      later(fault.ms, () => weather.down.delete(fault.remote));
      return;
    case 'clock':
      world.process(fault.process).clockOffset += fault.offsetMs;
      world.crash(fault.process, 500);
      return;
    case 'request-removed': {
      const base = world.paths.requests(fault.queue);
      const [name] = server.leader.find(`${base}/queue`)?.children ?? [];
      if (name === undefined) return;
      const claim = `${base}/claimed/${name.slice(4, 36)}`;
      const claimed = server.leader.find(claim) === undefined ? [] : [remove(claim)];
      server.byHand([remove(`${base}/queue/${name}`), ...claimed]);
      return;
    }
    case 'lock-removed': {
      const { lock } = world.paths.pipeline(TENANT, fault.pipeline);
      const [holder] = inLockOrder([...(server.leader.find(lock)?.children ?? [])]);
      if (holder !== undefined) server.byHand([remove(`${lock}/${holder}`)]);
      return;
    }
  }
}

export function faultText(fault: Fault): string {
  const { at, kind, ...rest } = fault;
  const details = Object.entries(rest).map(
    ([name, value]) => `${name} ${typeof value === 'number' && value > 1 ? Math.round(value) : value}`,
  );
  return `${(at / 1000).toFixed(2)} s ${kind} ${details.join(', ')}`;
}
