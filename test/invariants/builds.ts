/**
 * Invariants 2, 7 and 9: a result counts only for an open build of the current buildset and only with an event that says
 * so; what has ended stays as it ended; a build is asked for once; a retry follows a RETRY and stays within the attempts.
 */
import type { Uuid } from '../../src/lib/ids.ts';
import { type Build, isOpen, isRetried } from '../../src/model/build.ts';
import { type BuildSet, graphOf, testedMergeOf } from '../../src/model/build-set.ts';
import { buildsetsOf, type QueueItem } from '../../src/model/queue-item.ts';
import type { TurnInput, TurnOutput } from '../../src/pipeline/turn.ts';
import type { Complain } from './complain.ts';

export class BuildChecks {
  readonly #complain: Complain;
  readonly #asked = new Set<Uuid>();

  constructor(complain: Complain) {
    this.#complain = complain;
  }

  turn(input: TurnInput, output: TurnOutput): void {
    for (const command of output.commands) {
      if (command.kind !== 'request-build') continue;
      if (this.#asked.has(command.build)) this.#complain('7', `build ${command.build} was asked for twice`);
      this.#asked.add(command.build);
    }
    const answers = new Set(
      input.events.flatMap(event => (event.kind === 'merger-result' ? [event.request] : [])),
    );
    const results = new Set(
      input.events.flatMap(event => (event.kind === 'build-result' ? [event.build] : [])),
    );
    const cancelled = new Set(
      output.commands.flatMap(command => (command.kind === 'cancel-build' ? [command.build] : [])),
    );
    for (const item of [...output.state.items.values(), ...output.left]) {
      const before = input.state.items.get(item.uuid);
      if (before === item) continue;
      this.#checkAttempts(item.buildset);
      if (before === undefined) continue;
      this.#checkMerge(before, item, answers);
      this.#checkItem(before, item, results, cancelled);
    }
  }

  /** What is tested is the answer to the request of this very buildset. */
  #checkMerge(before: QueueItem, after: QueueItem, answers: ReadonlySet<Uuid>): void {
    const { stage } = before.buildset;
    if (stage.state !== 'merging' || before.buildset.uuid !== after.buildset.uuid) return;
    if (testedMergeOf(after.buildset) !== null && !answers.has(stage.request)) {
      this.#complain('2', `buildset ${before.buildset.uuid} took a merge it did not ask for`);
    }
  }

  #checkItem(
    before: QueueItem,
    after: QueueItem,
    results: ReadonlySet<Uuid>,
    cancelled: ReadonlySet<Uuid>,
  ): void {
    const now = new Map(buildsetsOf(after).map(buildset => [buildset.uuid, buildset]));
    for (const old of buildsetsOf(before)) {
      const buildset = now.get(old.uuid);
      if (buildset === undefined) this.#complain('2', `buildset ${old.uuid} has vanished`);
      else if (buildset !== old)
        this.#checkBuildset(old, buildset, old === before.buildset, results, cancelled);
    }
    for (const buildset of after.earlier) {
      if (buildset.builds.some(isOpen))
        this.#complain('2', `buildset ${buildset.uuid} was replaced with builds still open`);
      const ended = buildset.stage.state === 'superseded' || buildset.stage.state === 'complete';
      if (!ended) this.#complain('2', `buildset ${buildset.uuid} was replaced while ${buildset.stage.state}`);
    }
    const finished = after.buildset.stage.state === 'superseded' || after.buildset.stage.state === 'complete';
    if (finished && after.buildset.builds.some(isOpen))
      this.#complain('2', `buildset ${after.buildset.uuid} has ended with builds still open`);
  }

  #checkBuildset(
    old: BuildSet,
    buildset: BuildSet,
    current: boolean,
    results: ReadonlySet<Uuid>,
    cancelled: ReadonlySet<Uuid>,
  ): void {
    const ended = old.stage.state === 'superseded' || old.stage.state === 'complete';
    if (ended && buildset.stage !== old.stage)
      this.#complain('2', `buildset ${old.uuid} changed after its end`);
    const builds = new Map(buildset.builds.map(build => [build.uuid, build]));
    for (const was of old.builds) {
      const build = builds.get(was.uuid);
      if (build === undefined) this.#complain('7', `build ${was.uuid} has vanished`);
      // One that runs again at a person's request ended as it ended.
      else if (build.state !== was.state) this.#checkBuild(was, build, current && !ended, results, cancelled);
    }
  }

  #checkBuild(
    was: Build,
    build: Build,
    open: boolean,
    results: ReadonlySet<Uuid>,
    cancelled: ReadonlySet<Uuid>,
  ): void {
    const step = `${was.state.state} → ${build.state.state}`;
    const name = `build ${build.job} (${build.uuid})`;
    switch (build.state.state) {
      case 'completed':
        if (!isOpen(was) || !open) this.#complain('2', `${name} took a result: ${step}`);
        if (!results.has(build.uuid)) this.#complain('7', `${name} has a result without an event`);
        return;
      case 'cancelled':
        if (isOpen(was) && !cancelled.has(build.uuid))
          this.#complain('7', `${name} was cancelled without a command to its executor`);
        if (!isOpen(was) && was.state.state !== 'cancelled') this.#complain('7', `${name}: ${step}`);
        return;
      case 'requested':
      case 'skipped':
        this.#complain('7', `${name}: ${step}`);
        return;
      case 'started':
        if (!isOpen(was)) this.#complain('7', `${name}: ${step}`);
    }
  }

  #checkAttempts(buildset: BuildSet): void {
    const last = new Map<string, Build>();
    const uncounted = new Map<string, number>();
    const jobs = new Map((graphOf(buildset)?.jobs ?? []).map(job => [job.name, job]));
    for (const build of buildset.builds) {
      const previous = last.get(build.job);
      last.set(build.job, build);
      if (build.attempt !== (previous?.attempt ?? 0) + 1)
        this.#complain('9', `${build.job}: attempt ${build.attempt} follows ${previous?.attempt ?? 0}`);
      const retried = previous === undefined || isRetried(previous);
      if (!retried) this.#complain('9', `${build.job} was tried again after ${previous.state.state}`);
      const attempts = jobs.get(build.job)?.attempts;
      if (attempts === undefined) this.#complain('9', `${build.job} is no job of the graph`);
      else if (build.attempt - (uncounted.get(build.job) ?? 0) > attempts && build.state.state !== 'skipped')
        this.#complain('9', `${build.job}: attempt ${build.attempt} of ${attempts}`);
      if (build.outdatedBy === build.job) uncounted.set(build.job, build.attempt);
      else if (
        build.state.state === 'completed' &&
        (build.state.workerEnd !== undefined || build.state.hostTrouble === true)
      )
        uncounted.set(build.job, (uncounted.get(build.job) ?? 0) + 1);
    }
  }
}
