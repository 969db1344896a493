/**
 * Plays random histories in a {@link World}: anything that is pending may be answered next, in any way, twice or late, and
 * people interfere. After each turn the turn is repeated without events: nothing may come of it. Each is decided with a memory and
 * without one: both must say the same. At the end everything open is answered until nothing is asked for any more.
 */
import fc from 'fast-check';
import { addMilliseconds, millisecondsBetween } from '../../../src/lib/clock.ts';
import type { PipelineEvent, ReportOutcome } from '../../../src/model/event.ts';
import type { HostTrouble } from '../../../src/model/host-trouble.ts';
import type { MergerOutcome } from '../../../src/model/merge.ts';
import type { BuildResult } from '../../../src/model/results.ts';
import { decideTurn } from '../../../src/pipeline/decide-turn.ts';
import { nextHostRetry } from '../../../src/pipeline/host-wait.ts';
import { HistoryChecker } from '../../invariants/history-checker.ts';
import {
  chainOf,
  nameOf,
  type PendingBuild,
  type PendingMerge,
  type PendingReport,
  type PipelineWorld,
} from './world.ts';

export interface Step {
  readonly act: number;
  readonly pick: number;
  /** Keep the event back and deliver it together with the next ones. */
  readonly later: boolean;
}

export const stepArbitrary: fc.Arbitrary<Step> = fc.record({
  act: fc.nat({ max: 99 }),
  pick: fc.nat({ max: 1000 }),
  later: fc.boolean(),
});

/** How the world answers; the defaults are honest and lucky. */
export interface Nature {
  readonly result: (build: PendingBuild, luck: number) => BuildResult;
  readonly merge: (merge: PendingMerge, luck: number) => MergerOutcome;
  readonly report: (luck: number, report: PendingReport) => ReportOutcome | undefined;
  /** Why the build's commits could not be fetched; undefined: they could. */
  readonly trouble?: (build: PendingBuild, luck: number) => HostTrouble | undefined;
  /** Items wait for hosts: where nothing can be answered, time passes until one is to ask again. */
  readonly waits?: true;
  /** People interfere: abandon, withdraw, new patchsets, pushes past the gate. */
  readonly meddling: boolean;
}

export class Chaos {
  readonly #pipeline: PipelineWorld;
  readonly #nature: Nature;
  readonly #names: readonly string[];
  #kept: PipelineEvent[] = [];
  readonly #sent: PipelineEvent[] = [];

  constructor(pipeline: PipelineWorld, nature: Nature) {
    this.#pipeline = pipeline;
    pipeline.comparesMemory = true;
    this.#nature = nature;
    this.#names = [...pipeline.world.changes.keys()];
  }

  play(steps: readonly Step[]): void {
    for (const step of steps) this.#step(step);
  }

  /** @returns how many rounds it took. @throws when it does not come to rest. */
  drain(): number {
    this.#flush();
    const pipeline = this.#pipeline;
    for (let round = 0; round < 500; round += 1) {
      const events = [
        ...pipeline.merges.map(merge => pipeline.mergeEvent(merge, this.#nature.merge(merge, 999))),
        ...pipeline.builds.map(build => this.#result(build, 999)),
        ...pipeline.reports.map(report => pipeline.reportEvent(report, this.#nature.report(999, report))),
      ];
      if (events.length > 0) this.#turn(events);
      else if (!this.#waitForHost()) return round;
    }
    throw new Error('still asking after 500 rounds of answers');
  }

  check(): readonly string[] {
    const checker = new HistoryChecker();
    for (const { input, output } of this.#pipeline.history) checker.turn(input, output);
    checker.finish();
    return checker.violations.map(
      violation => `${violation.invariant} at ${violation.turn}: ${violation.text}`,
    );
  }

  #step({ act, pick, later }: Step): void {
    const event = this.#event(act, pick);
    if (event === undefined) {
      if (act < 40 && this.#nature.waits === true) this.#waitForHost();
      return;
    }
    this.#kept.push(event);
    if (!later) this.#flush();
  }

  #flush(): void {
    if (this.#kept.length === 0) return;
    const events = this.#kept;
    this.#kept = [];
    this.#turn(events);
  }

  #turn(events: readonly PipelineEvent[]): void {
    this.#sent.push(...events);
    const pipeline = this.#pipeline;
    pipeline.turn(events.map(deepFreeze));
    for (const item of pipeline.state.items.values()) deepFreeze(item);
    for (const queue of pipeline.state.queues) deepFreeze(queue);
    const last = pipeline.history.at(-1);
    if (last === undefined) return;
    const again = decideTurn({ ...last.input, state: last.output.state, events: [], frozen: new Map() });
    const quiet =
      again.state === last.output.state &&
      again.commands.length + again.decisions.length + again.needs.length + again.left.length === 0;
    if (!quiet)
      throw new Error(
        `a repeated turn does something: ${JSON.stringify({ commands: again.commands, decisions: again.decisions })}`,
      );
  }

  /** As the timer of the service: a turn at the time at which the next item is to ask. @returns false: none waits for a time. */
  #waitForHost(): boolean {
    const { world, state, history } = this.#pipeline;
    const decidedAt = history.at(-1)?.input.now ?? world.now;
    const at = nextHostRetry(state.items.values(), decidedAt);
    if (at === null) return false;
    // A turn takes a second.
    world.pass(Math.max(0, millisecondsBetween(world.now, at) - 1000));
    const events = this.#kept;
    this.#kept = [];
    this.#turn(events);
    return true;
  }

  #result(build: PendingBuild, luck: number): PipelineEvent {
    const trouble = this.#nature.trouble?.(build, luck);
    if (trouble === undefined) return this.#pipeline.resultEvent(build, this.#nature.result(build, luck));
    const event = this.#pipeline.resultEvent(build, 'RETRY');
    return event.kind === 'build-result' ? { ...event, trouble } : event;
  }

  #event(act: number, pick: number): PipelineEvent | undefined {
    const pipeline = this.#pipeline;
    const luck = pick % 100;
    if (act < 22) return this.#enqueue(pick);
    if (act < 40)
      return choose(pipeline.merges, pick, merge =>
        pipeline.mergeEvent(merge, this.#nature.merge(merge, luck)),
      );
    if (act < 45)
      return choose(pipeline.builds, pick, build =>
        pipeline.startEvent(build, addMilliseconds(pipeline.world.now, -(luck % MOST_TURNS_LATE) * 700)),
      );
    if (act < 65) return choose(pipeline.builds, pick, build => this.#result(build, luck));
    if (act < 77)
      return choose(pipeline.dueReports(), pick, report =>
        pipeline.reportEvent(report, this.#nature.report(luck, report)),
      );
    if (act < 80)
      return choose(pipeline.lateMerges, pick, merge =>
        pipeline.mergeEvent(merge, this.#nature.merge(merge, luck)),
      );
    if (act < 83) return choose(pipeline.zombies, pick, build => pipeline.resultEvent(build, 'SUCCESS'));
    if (act < 87) return choose(this.#sent, pick, event => event);
    if (act < 88) return this.#promote(pick);
    return this.#nature.meddling ? this.#meddle(act, pick) : undefined;
  }

  #enqueue(pick: number): PipelineEvent | undefined {
    return choose(this.#names, pick, name => this.#pipeline.enqueueEvent(name));
  }

  /** One change or two, there or not. */
  #promote(pick: number): PipelineEvent {
    const { world } = this.#pipeline;
    const names = [pick, Math.floor(pick / 7)].map(each => this.#names[each % this.#names.length]);
    const keys = new Set(names.flatMap(name => (name === undefined ? [] : [world.proposed(name).key])));
    return { kind: 'promote', uuid: world.uuid(), changes: [...keys], by: 'ops' };
  }

  #meddle(act: number, pick: number): PipelineEvent | undefined {
    const { world } = this.#pipeline;
    const change = choose([...world.changes.values()], pick, entry => entry);
    if (change === undefined) return undefined;
    const updated: PipelineEvent = {
      kind: 'change-updated',
      uuid: world.uuid(),
      change: world.proposed(change.name).key,
    };
    switch (act) {
      case 88:
        change.approved = false;
        return updated;
      case 89:
        change.approved = true;
        return updated;
      case 90:
        if (change.status === 'open') change.status = 'abandoned';
        return updated;
      case 91:
        if (change.status === 'open') change.patchset += 1;
        return updated;
      case 92:
        world.moveTip(change.project);
        return undefined;
      case 93:
        return { kind: 'dequeue', uuid: world.uuid(), change: updated.change, by: 'ops' };
      case 94:
        return { kind: 'superseded', uuid: world.uuid(), change: updated.change, by: 'other' };
      case 95:
        return choose(this.#pipeline.builds, pick, build => this.#pipeline.failingEvent(build));
      case 96:
        if (change.status === 'open') {
          change.status = 'merged';
          world.moveTip(change.project);
        }
        return updated;
      case 97:
        if (this.#names[0] !== change.name && this.#names[0] !== undefined)
          change.dependsOn = [this.#names[0]];
        return updated;
      case 98:
        return choose(this.#pipeline.builds, pick, build =>
          this.#pipeline.lostEvent(build, addMilliseconds(world.now, -(pick % MOST_TURNS_LATE) * 700)),
        );
      case 99:
        this.#pipeline.takenOver(pick * 10);
        return undefined;
      default:
        return undefined;
    }
  }
}

/** About as many turns may pass until an executor is missed. */
const MOST_TURNS_LATE = 12;

function choose<T, R>(list: readonly T[], pick: number, use: (entry: T) => R): R | undefined {
  const entry = list[pick % Math.max(list.length, 1)];
  return entry === undefined ? undefined : use(entry);
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const part of Object.values(value)) deepFreeze(part);
  return value;
}

/** Truth about a set of changes: which break the tests of everything that contains them. */
export function honestNature(pipeline: PipelineWorld, bad: ReadonlySet<string>): Nature {
  const chains = new Map<string, readonly string[]>();
  return {
    meddling: false,
    report: () => undefined,
    merge: merge => {
      const outcome = pipeline.mergeOutcome(merge);
      const leftOut = outcome.kind === 'merged' ? (outcome.leftOut ?? []).map(({ item }) => item) : [];
      const merged = chainOf(merge).filter((_, place) => !leftOut.includes(place));
      chains.set(
        merge.buildset,
        merged.flatMap(({ changes }) => changes.map(change => nameOf({ changes: [change] }))),
      );
      return outcome;
    },
    result: build => ((chains.get(build.buildset) ?? []).some(name => bad.has(name)) ? 'FAILURE' : 'SUCCESS'),
  };
}
