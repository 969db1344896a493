/**
 * A scenario: what people do, in order, each as soon as its moment has come. A moment is a time since the last step or
 * something that can be seen from outside (a job runs, a change has landed).
 */
import type { ObjectId } from '../../src/git/objects/object-id.ts';
import type { Landing } from './host/code-host.ts';
import type { SimCommit } from './host/objects.ts';
import type { AfterLanding } from './site.ts';
import type { World } from './world.ts';

export interface ScenarioStep {
  readonly text: string;
  /** Default: at once. Looked at after every event. */
  readonly when?: (world: World, sinceLast: number) => boolean;
  readonly act: (world: World) => void;
}

export interface Scenario {
  readonly name: string;
  readonly text: string;
  readonly steps: readonly ScenarioStep[];
  /** Milliseconds jobs run. */
  readonly jobs?: readonly [number, number];
  /** Pipelines of its site, beside check, gate and post. */
  readonly pipelines?: (seed: number) => readonly AfterLanding[];
  /** `project/topic` of what lands when nothing goes wrong, in this order. What goes wrong may cost attempts, never more lands. */
  readonly lands: readonly string[];
  /** These never land. */
  readonly neverLands?: readonly string[];
}

/** Plays the steps; `step` after every event. */
export class Play {
  readonly #scenario: Scenario;
  readonly #world: World;
  #next = 0;
  #last = 0;

  constructor(scenario: Scenario, world: World) {
    this.#scenario = scenario;
    this.#world = world;
  }

  get done(): boolean {
    return this.#next >= this.#scenario.steps.length;
  }

  /** Takes the steps whose moment has come; one whose moment was missed in the turmoil is taken after a while. */
  step(): void {
    const { kernel } = this.#world;
    for (;;) {
      const step = this.#scenario.steps[this.#next];
      if (step === undefined) return;
      const since = kernel.now - this.#last;
      // What it waits for may have been missed in the turmoil.
      const overdue = since > 800_000;
      if (!overdue && step.when?.(this.#world, since) === false) return;
      this.#next += 1;
      this.#last = kernel.now;
      kernel.note(`— ${step.text}`);
      step.act(this.#world);
    }
  }
}

// ---- moments ----

export function after(ms: number): NonNullable<ScenarioStep['when']> {
  return (_world, since) => since >= ms;
}

/** A job of that name has begun at least so many times. */
export function jobsBegun(job: string, times = 1): NonNullable<ScenarioStep['when']> {
  return world => world.jobRuns.filter(run => run.job === job).length >= times;
}

/** A job, or that job, of a change of branch `master` has begun in that pipeline. */
export function begunIn(pipeline: string, topic: string, job?: string): NonNullable<ScenarioStep['when']> {
  return world =>
    world.jobRuns.some(
      run => run.of === `${pipeline} master/${topic}` && (job === undefined || run.job === job),
    );
}

/** A job of a change of branch `master` has failed in that pipeline. */
export function failedIn(pipeline: string, topic: string): NonNullable<ScenarioStep['when']> {
  return world =>
    world.jobRuns.some(run => run.of === `${pipeline} master/${topic}` && run.verdict === 'FAILURE');
}

/** The tenant is configured: the gate's queue takes events. */
export function ready(world: World): boolean {
  const node = world.server.leader.find(world.paths.tenant('acme').layout);
  return node !== undefined && node.data.length > 0;
}

export function landed(world: World, project: string, topic: string): boolean {
  return world.host.landings.some(
    landing =>
      landing.project === project &&
      mergesOf(world, landing).some(({ message }) => message.includes(`Merge ${project} master/${topic}`)),
  );
}

export function hasLanded(project: string, topic: string): NonNullable<ScenarioStep['when']> {
  return world => landed(world, project, topic);
}

/** `project/topic` of everything that landed, in order. */
export function landedTopics(world: World): readonly string[] {
  const ours = world.host.landings.filter(({ by }) => by !== 'developer');
  return ours.flatMap(landing =>
    mergesOf(world, landing).flatMap(({ message }) => {
      const [, project, topic] = /^Merge (\S+) master\/(\S+)$/m.exec(message) ?? [];
      return project === undefined ? [] : [`${project}/${topic}`];
    }),
  );
}

/** One move of a branch may land several changes, each merged on the one before it: the first one first. */
function mergesOf({ host }: World, { from, to }: Landing): readonly SimCommit[] {
  const merges: SimCommit[] = [];
  for (let id: ObjectId | undefined = to; id !== undefined && id !== from; ) {
    const commit = host.objects.get(id);
    merges.unshift(commit);
    [id] = commit.parents;
  }
  return merges;
}

// ---- deeds ----

export function propose(
  project: string,
  topic: string,
  change: Parameters<World['people']['propose']>[2] = {},
  when?: ScenarioStep['when'],
): ScenarioStep {
  return {
    text: `a developer proposes ${project} ${topic}`,
    ...(when === undefined ? {} : { when }),
    act: world => world.people.propose(project, topic, change),
  };
}

/** Approved as soon as it is proposed: for changes that go through the gate together. */
export function proposeAndApprove(
  project: string,
  topic: string,
  change: Parameters<World['people']['propose']>[2] = {},
  when?: ScenarioStep['when'],
): ScenarioStep {
  return {
    text: `a developer proposes and approves ${project} ${topic}`,
    ...(when === undefined ? {} : { when }),
    act: world => {
      world.people.propose(project, topic, change);
      world.people.approve(project, topic);
    },
  };
}

export function deed(text: string, act: ScenarioStep['act'], when?: ScenarioStep['when']): ScenarioStep {
  return { text, act, ...(when === undefined ? {} : { when }) };
}

export function approve(
  project: string,
  topic: string,
  when: ScenarioStep['when'] = after(200),
): ScenarioStep {
  return {
    text: `a reviewer approves ${project} ${topic}`,
    when,
    act: world => world.people.approve(project, topic),
  };
}
