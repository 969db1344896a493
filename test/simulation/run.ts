/**
 * One run: a scenario with faults (safety), then no more faults until everything is at rest (liveness), then one new change
 * that must pass the gate, then two quiet hours for the sweepers, and the last look.
 */

import type { Check, Violation } from './checks/check.ts';
import { Events } from './checks/events.ts';
import { Fences } from './checks/fences.ts';
import { Landings } from './checks/landings.ts';
import { Leaks } from './checks/leaks.ts';
import { PipelineHistory } from './checks/pipeline-history.ts';
import { ReportedTimes } from './checks/reported-times.ts';
import { SenderReports } from './checks/sender-report.ts';
import { Traces } from './checks/traces.ts';
import { WholeTraces } from './checks/whole-traces.ts';
import { Workers } from './checks/workers.ts';
import { type Fault, scheduleFaults } from './faults.ts';
import { installGlobals } from './kernel/globals.ts';
import type { Point, PointPhase } from './kernel/kernel.ts';
import { unrest } from './quiet.ts';
import { landed, landedTopics, Play, ready, type Scenario } from './scenario.ts';
import { Sometimes } from './sometimes.ts';
import { World, type WorldOptions } from './world.ts';

export interface RunOptions {
  readonly seed: number;
  readonly scenario: Scenario;
  readonly faults: readonly Fault[];
  /** Called with the label of each call of a port, in the order of their numbers; for runs that are compared with those below. */
  readonly onCall?: (label: string) => void;
  /** Called with each call of a port; may kill. */
  readonly onPoint?: (point: Point, phase: PointPhase, world: World) => void;
  readonly processes?: WorldOptions['processes'];
  /** Without the change afterwards and the two quiet hours. */
  readonly short?: boolean;
  /** Ends with the first violation, where the others are of no interest. */
  readonly first?: boolean;
  readonly story?: (line: string) => void;
}

export interface Outcome {
  readonly violations: readonly Violation[];
  readonly hash: number;
  readonly steps: number;
  readonly points: number;
  /** Of these, until all was at rest. */
  readonly pointsUntilRest: number;
  /** Virtual milliseconds until all was at rest. */
  readonly restedAt: number;
  readonly sometimes: ReadonlyMap<string, number>;
  /** Ends of processes that had an error, with how often. */
  readonly exits: readonly string[];
  readonly recent: readonly string[];
}

/** Virtual milliseconds. */
const MOST_SAFETY = 10_000_000;
const MOST_LIVENESS = 4_000_000;
const TWO_HOURS = 7_500_000;
/** More violations of a run say nothing new. */
const MOST_VIOLATIONS = 12;

export async function simulate(options: RunOptions): Promise<Outcome> {
  const { scenario, seed, faults } = options;
  const sometimes = new Sometimes();
  const world = new World({
    seed,
    sometimes,
    ...(scenario.jobs === undefined ? {} : { jobs: scenario.jobs }),
    pipelines: scenario.pipelines?.(seed) ?? [],
    ...(options.processes === undefined ? {} : { processes: options.processes }),
  });
  using _globals = installGlobals(world.kernel);
  const run = new Run(world, options, sometimes);
  const rejected = (error: unknown) => run.complain('unhandled', describe(error));
  process.on('unhandledRejection', rejected);
  process.on('uncaughtException', rejected);
  try {
    await run.play(scenario, faults);
    const outcome = run.outcome();
    await world.dispose();
    return outcome;
  } finally {
    process.off('unhandledRejection', rejected);
    process.off('uncaughtException', rejected);
  }
}

class Run {
  readonly #world: World;
  readonly #options: RunOptions;
  readonly #sometimes: Sometimes;
  readonly #violations: Violation[] = [];
  readonly #checks: readonly Check[];
  readonly #landings: Landings;
  #restedAt = 0;
  #pointsUntilRest = 0;

  constructor(world: World, options: RunOptions, sometimes: Sometimes) {
    this.#world = world;
    this.#options = options;
    this.#sometimes = sometimes;
    const { server, paths, kernel } = world;
    const say = (invariant: string, text: string) => this.complain(invariant, text);
    const history = new PipelineHistory(server, `${paths.tenant('acme').pipelines}`, say, sometimes.reached);
    this.#landings = new Landings(world, history, say);
    this.#checks = [
      history,
      new Fences(server, paths, say, sometimes.reached),
      new Events(world, say),
      new Workers(world, say),
      new Traces(world, history, say, this.#isCalm),
      new WholeTraces(world, history, say, sometimes.reached, this.#isCalm),
      new ReportedTimes(history, say, sometimes.reached),
      new Leaks(world, say, options.short === true),
      ...(options.short === true ? [] : [new SenderReports(world, say)]),
    ];
    server.observers.push(transaction => {
      for (const check of this.#checks) check.committed?.(transaction);
    });
    if (options.story !== undefined) {
      const { story } = options;
      kernel.story = line => story(`${(kernel.now / 1000).toFixed(3).padStart(10)}  ${line}`);
    }
    const { onPoint, onCall } = options;
    kernel.reportReplies = onPoint !== undefined || onCall !== undefined;
    kernel.onPoint = (point, phase) => {
      if (phase === 'before') onCall?.(point.label);
      onPoint?.(point, phase, world);
    };
  }

  complain(invariant: string, text: string): void {
    const { kernel } = this.#world;
    if (this.#violations.some(known => known.invariant === invariant && known.text === text)) return;
    this.#violations.push({ invariant, at: kernel.now, text });
    kernel.note(`✗ ${invariant}: ${text}`);
  }

  async play(scenario: Scenario, faults: readonly Fault[]): Promise<void> {
    const { kernel, weather } = this.#world;
    const play = new Play(scenario, this.#world);
    kernel.onStep = () => {
      play.step();
      this.#landings.step();
    };
    this.#world.startAll();
    scheduleFaults(faults, this.#world);
    const lastFault = Math.max(0, ...faults.map(fault => fault.at));
    const stop = () => this.#hopeless || (play.done && kernel.now > lastFault);
    if ((await kernel.run(stop, MOST_SAFETY)) !== 'met')
      this.complain('scenario', 'its steps were not all taken in time');
    weather.clear();
    for (const [index] of this.#world.server.replicas.entries()) this.#world.server.setLag(index, 0);
    for (const name of this.#world.keptDown) this.#world.start(name);
    kernel.note('— no more faults');
    await this.#rest('the run');
    this.#restedAt = kernel.now;
    this.#pointsUntilRest = kernel.points;
    const { short = false } = this.#options;
    if (!this.#hopeless && !short) await this.#oneMore();
    if (!this.#hopeless && !short) {
      // Nothing more happens at the host. Asked every minute, it would be half of the run's work.
      this.#world.host.pollInterval = 1_200;
      await kernel.run(() => this.#hopeless, kernel.now + TWO_HOURS);
      await this.#rest('the two quiet hours');
    }
    if (!this.#hopeless) {
      for (const check of this.#checks) check.finished?.();
      this.#checkScenario(scenario);
    }
    this.#checkExits(this.#isCalm);
  }

  outcome(): Outcome {
    const { kernel, exits } = this.#world;
    const reasons = Map.groupBy(
      exits,
      ({ process, reason }) => `${process.replace(/\d+$/, '')}: ${describe(reason).split('\n')[0]}`,
    );
    return {
      violations: this.#violations.slice(0, MOST_VIOLATIONS),
      hash: kernel.hash,
      steps: kernel.steps,
      points: kernel.points,
      pointsUntilRest: this.#pointsUntilRest,
      restedAt: this.#restedAt,
      sometimes: this.#sometimes.counts,
      exits: [...reasons].map(([reason, all]) => `${all.length} × ${reason}`),
      recent: kernel.recent,
    };
  }

  get #hopeless(): boolean {
    return this.#violations.length >= (this.#options.first === true ? 1 : MOST_VIOLATIONS);
  }

  async #rest(what: string): Promise<void> {
    const { kernel } = this.#world;
    let looked = 0;
    const rested = () => {
      if (this.#hopeless) return true;
      // Looking is not free: every so often.
      if (kernel.steps - looked < 20) return false;
      looked = kernel.steps;
      return unrest(this.#world).length === 0;
    };
    if ((await kernel.run(rested, kernel.now + MOST_LIVENESS)) !== 'met')
      this.complain('I11', `${what} has not come to rest: ${unrest(this.#world).join('; ')}`);
  }

  /** The installation still works. */
  async #oneMore(): Promise<void> {
    const { kernel, people } = this.#world;
    const [project, topic] = ['org/docs', 'afterwards'];
    kernel.note('— one more change');
    people.propose(project, topic);
    people.approve(project, topic);
    const end = await kernel.run(
      () => this.#hopeless || (landed(this.#world, project, topic) && ready(this.#world)),
      kernel.now + MOST_LIVENESS,
    );
    if (end !== 'met')
      this.complain('I11', `a new change does not pass the gate: ${unrest(this.#world).join('; ')}`);
    await this.#rest('the change afterwards');
  }

  /** Without trouble exactly what the story says has landed; with trouble perhaps less, in the same order per queue. */
  #checkScenario(scenario: Scenario): void {
    const { lands, neverLands = [] } = scenario;
    const found = landedTopics(this.#world).filter(each => each !== 'org/docs/afterwards');
    if (this.#isCalm && scenario.lands.length > 0 && found.toSorted().join() !== lands.toSorted().join())
      this.complain('scenario', `landed: ${found.join(', ')}; expected: ${lands.join(', ')}`);
    for (const each of neverLands) if (found.includes(each)) this.complain('scenario', `${each} has landed`);
    if (found.length === lands.length) this.#sometimes.reached('everything landed in spite of faults');
  }

  get #isCalm(): boolean {
    return this.#options.faults.length === 0 && this.#options.onPoint === undefined;
  }

  #checkExits(calm: boolean): void {
    for (const { process, reason } of this.#world.exits) {
      const broken =
        reason instanceof TypeError || reason instanceof RangeError || reason instanceof ReferenceError;
      if (calm || broken) this.complain('exit', `${process} ended: ${describe(reason)}`);
    }
  }
}

function describe(reason: unknown): string {
  return reason instanceof Error ? (reason.stack ?? reason.message) : String(reason);
}
