/**
 * The words of the transcripts. Setting up says nothing; what leads to a turn prints the turn and the state after it.
 *
 *     pipeline gate dependent window=2 floor=1 ceiling=2 start dequeue supercedes=check
 *     pipeline gate dependent window=1       a second time: configured anew
 *     pipeline check gated                   independent, and it requires approvals
 *     pipeline deploy serial                 or supercedent
 *     pipeline gate dependent together       the host lands several at once; one-by-one: the pipeline does not want that
 *     queue integrated app lib               these projects share a queue; their items follow in the next turn
 *     cycles                                 changes that depend on each other may be one item
 *     retire gate                            it is not configured any more
 *     jobs app merge:hold unit<merge docs<~merge lint:nonvoting
 *     changes app A B C                      open and approved
 *     unready A / ready A / needs C B A / built-on C B / topic big A B / topic - A / config-error A / missing-states A
 *     conflict A B C                         B and C cannot be merged with A: mergers go on past them
 *     remove app                             the tenant loses the project
 *     pass 30                                so many seconds go by
 *     new-layout                             the tenant has another layout, which leaves the pipelines as they are
 *     approve A B [in check]                 ready, one enqueue event each, a turn each
 *     enqueue A [in check]                   the event alone; by-hand A: an operator asks for it
 *     update A / withdraw A / abandon A / patchset A / merged-elsewhere A
 *     merges / merge A ok|old|conflict|failed|broken      old: by a merger of 0.3, which ends at the first conflict
 *     start A unit / failing A unit / build A unit FAILURE / release A|* <pattern> / late A unit SUCCESS
 *     answers B=not-merged                   of all reports, in one turn, honest ones but for these
 *     reports / report A [base-moved|not-merged|failed|done|withdrawn|unsettled] / push app
 *     host-merges                            from now on the host makes its own commits of what lands
 *     report A other-tree                    and this one holds something else than was tested
 *     dequeue A / promote C B / rerun A / turn
 *     pause gate [queue] / resume gate [queue]   at an operator's request
 */

import type { PipelineEvent, ReportOutcome } from '../../../src/model/event.ts';
import type { MergerOutcome } from '../../../src/model/merge.ts';
import { MANAGER_NAMES, type ReportAction } from '../../../src/model/pipeline.ts';
import { projectKey } from '../../../src/model/project.ts';
import type { BuildResult } from '../../../src/model/results.ts';
import { renderState, renderTurn } from './render.ts';
import {
  job,
  nameOf,
  type PendingBuild,
  type PendingMerge,
  type PipelineSetup,
  type PipelineWorld,
  World,
} from './world.ts';

const PROGRESS_ACTIONS: readonly ReportAction[] = ['enqueue', 'start', 'dequeue', 'no-jobs', 'disabled'];

export class Script {
  readonly world = new World();
  #output: string[] = [];

  /** @returns what the commands print. */
  run(lines: readonly string[]): string {
    this.#output = [];
    for (const line of lines) if (!line.startsWith('#')) this.#command(line);
    return this.#output.join('\n');
  }

  #command(line: string): void {
    const [verb = '', ...words] = line.trim().split(/\s+/);
    if (!this.#setUp(verb, words) && !this.#act(verb, words)) throw new Error(`unknown command: ${line}`);
  }

  #setUp(verb: string, words: readonly string[]): boolean {
    const { world } = this;
    const [first = '', ...rest] = words;
    switch (verb) {
      case 'pipeline':
        this.#pipeline(first, rest);
        return true;
      case 'queue':
        for (const project of rest) world.queue(project, first);
        return true;
      case 'cycles':
        world.allowsCycles = true;
        return true;
      case 'retire':
        this.#pipelineNamed(first).retired = true;
        return true;
      case 'jobs':
        world.jobs(first, rest.map(parseJob));
        return true;
      case 'changes':
        for (const name of rest) world.change(name, { project: first });
        return true;
      case 'needs':
        world.get(first).dependsOn = rest;
        return true;
      case 'built-on':
        world.get(first).builtOn = rest;
        return true;
      case 'topic':
        for (const name of rest) world.get(name).topic = first === '-' ? null : first;
        return true;
      case 'unresolved':
        world.get(first).unresolved = rest;
        return true;
      case 'ready':
      case 'unready':
        for (const name of words) world.get(name).approved = verb === 'ready';
        return true;
      case 'push':
        world.moveTip(first);
        return true;
      case 'conflict':
        for (const name of rest) world.conflict(first, name);
        return true;
      case 'remove':
        world.removed.add(first);
        return true;
      case 'host-merges':
        world.landsAs = 'api';
        return true;
      case 'new-layout':
        world.layoutVersion += 1;
        return true;
      case 'pass':
        world.pass(Number(first) * 1000);
        return true;
      case 'config-error':
        world.freezeAs(first, {
          kind: 'misconfigured',
          work: [],
          errors: [
            {
              severity: 'error',
              file: '.zuul.yaml',
              line: 4,
              column: 3,
              code: 'unknown-key',
              text: 'unknown key "tiemout"',
            },
          ],
        });
        return true;
      case 'missing-states': {
        const states = [
          { project: projectKey({ connection: 'local', name: 'tools' }), branches: ['master'] },
        ];
        world.freezeAs(first, {
          kind: 'frozen',
          work: [],
          blob: 'b10b',
          jobs: [job('unit')],
          missingStates: states,
        });
        return true;
      }
      default:
        return false;
    }
  }

  #pipeline(name: string, words: readonly string[]): void {
    const option = (key: string): number | undefined => {
      const text = words.find(word => word.startsWith(`${key}=`))?.split('=')[1];
      return text === undefined ? undefined : Number(text);
    };
    const given = <K extends string>(key: K, value: number | undefined) =>
      value === undefined ? {} : { [key]: value };
    const supercedes = words.find(word => word.startsWith('supercedes='))?.split('=')[1];
    const setup: PipelineSetup = {
      manager: MANAGER_NAMES.find(manager => words.includes(manager)) ?? 'independent',
      speaks: [
        'success',
        'failure',
        'merge-conflict',
        'config-error',
        ...PROGRESS_ACTIONS.filter(action => words.includes(action)),
      ],
      supercedes: supercedes === undefined ? [] : [supercedes],
      ...(words.includes('gated') ? { gated: true } : {}),
      ...(words.includes('together') ? { together: true } : {}),
      ...(words.includes('one-by-one') ? { landsOneByOne: true as const } : {}),
      window: {
        ...given('initial', option('window')),
        ...given('floor', option('floor')),
        ...given('ceiling', option('ceiling')),
      },
      ...given('maxChanges', option('max-changes')),
      ...given('maxDependencies', option('max-dependencies')),
      ...given('disableAfterConsecutiveFailures', option('disable')),
    };
    const known = this.world.pipelines.get(name);
    if (known === undefined) this.world.pipeline(name, setup).comparesMemory = true;
    else known.configure(setup);
  }

  #act(verb: string, words: readonly string[]): boolean {
    const { world } = this;
    const at = words.indexOf('in');
    const named = at < 0 ? undefined : words[at + 1];
    const names = at < 0 ? words : words.slice(0, at);
    const pipeline = this.#pipelineNamed(named);
    const [name = '', second = '', third = ''] = names;
    switch (verb) {
      case 'approve':
        for (const change of names) world.get(change).approved = true;
        for (const change of names)
          this.#turn(pipeline, [pipeline.enqueueEvent(change)], change === names.at(-1));
        return true;
      case 'enqueue':
      case 'by-hand':
        for (const change of names)
          this.#turn(
            pipeline,
            [this.#enqueue(pipeline, change, verb === 'by-hand')],
            change === names.at(-1),
          );
        return true;
      case 'turn':
        this.#turn(pipeline, []);
        return true;
      case 'withdraw':
        world.get(name).approved = false;
        return this.#updated(pipeline, name);
      case 'abandon':
        world.get(name).status = 'abandoned';
        return this.#updated(pipeline, name);
      case 'merged-elsewhere':
        world.get(name).status = 'merged';
        world.moveTip(world.get(name).project);
        return this.#updated(pipeline, name);
      case 'patchset':
        world.get(name).patchset += 1;
        return this.#updated(pipeline, name);
      case 'update':
        return this.#updated(pipeline, name);
      case 'merges':
        while (pipeline.merges.length > 0)
          this.#turn(
            pipeline,
            pipeline.merges.map(merge => pipeline.mergeEvent(merge)),
            false,
          );
        this.#state(pipeline);
        return true;
      case 'merge':
        this.#turn(pipeline, [this.#merge(pipeline, name, second)]);
        return true;
      case 'start':
        this.#turn(pipeline, [pipeline.startEvent(this.#build(pipeline, name, second))]);
        return true;
      case 'failing':
        this.#turn(pipeline, [pipeline.failingEvent(this.#build(pipeline, name, second))]);
        return true;
      case 'build':
        this.#turn(pipeline, [
          pipeline.resultEvent(this.#build(pipeline, name, second), third as BuildResult),
        ]);
        return true;
      case 'release':
        this.#turn(
          pipeline,
          this.#released(pipeline, name, second).map(build => pipeline.resultEvent(build, 'SUCCESS')),
        );
        return true;
      case 'late':
        this.#turn(pipeline, [this.#late(pipeline, name, second, third as BuildResult)]);
        return true;
      case 'reports':
        for (const report of pipeline.reports) this.#turn(pipeline, [pipeline.reportEvent(report)], false);
        this.#state(pipeline);
        return true;
      case 'answers':
        this.#turn(
          pipeline,
          pipeline.reports.map(report => {
            const how = names.find(each => each.startsWith(`${nameOf(report.item)}=`))?.split('=')[1];
            return pipeline.reportEvent(report, reportOutcome(how ?? ''));
          }),
        );
        return true;
      case 'report':
        this.#report(pipeline, name, second);
        return true;
      case 'dequeue':
        this.#turn(pipeline, [
          { kind: 'dequeue', uuid: world.uuid(), change: world.proposed(name).key, by: 'ops' },
        ]);
        return true;
      case 'pause':
      case 'resume': {
        const management = { receivedAt: world.now, storedAt: world.now, sampled: true };
        const halt = {
          queue: second === '' ? null : second,
          wanted: verb,
          reason: 'a reason',
          by: 'ops',
          management,
        } as const;
        this.#turn(this.#pipelineNamed(name), [{ kind: 'halt', uuid: world.uuid(), ...halt }]);
        return true;
      }
      case 'rerun': {
        const { uuid: item, changes } = pipeline.item(name);
        const management = { receivedAt: world.now, storedAt: world.now, sampled: true };
        const about = { item, change: changes[0].key, by: 'ops', management };
        this.#turn(pipeline, [{ kind: 'rerun', uuid: world.uuid(), ...about }]);
        return true;
      }
      case 'promote': {
        const changes = names.map(each => world.proposed(each).key);
        this.#turn(pipeline, [{ kind: 'promote', uuid: world.uuid(), changes, by: 'ops' }]);
        return true;
      }
      default:
        return false;
    }
  }

  #enqueue(pipeline: PipelineWorld, change: string, byHand: boolean): PipelineEvent {
    const event = pipeline.enqueueEvent(change, byHand ? 'enqueue' : 'approved');
    if (!byHand || event.kind !== 'enqueue') return event;
    const { now } = this.world;
    const management = { receivedAt: now, storedAt: now, sampled: true };
    return { ...event, matched: 'enqueued by hand by ops', request: { by: 'ops', management } };
  }

  #pipelineNamed(name: string | undefined): PipelineWorld {
    const pipeline =
      name === undefined ? [...this.world.pipelines.values()][0] : this.world.pipelines.get(name);
    if (pipeline === undefined) throw new Error(`no pipeline ${name ?? ''}`);
    return pipeline;
  }

  #updated(pipeline: PipelineWorld, name: string): true {
    this.#turn(pipeline, [
      { kind: 'change-updated', uuid: this.world.uuid(), change: this.world.proposed(name).key },
    ]);
    return true;
  }

  #turn(pipeline: PipelineWorld, events: readonly PipelineEvent[], state = true): void {
    const before = new Map(pipeline.state.items);
    const turn = pipeline.turn(events);
    this.#output.push(...renderTurn(pipeline, before, turn));
    if (state) this.#state(pipeline);
    for (const command of turn.commands) {
      if (command.kind !== 'supersede') continue;
      for (const name of command.pipelines) {
        const other = this.world.pipelines.get(name);
        if (other === undefined) continue;
        this.#turn(other, [
          { kind: 'superseded', uuid: this.world.uuid(), change: command.change, by: pipeline.pipeline.name },
        ]);
      }
    }
  }

  #state(pipeline: PipelineWorld): void {
    this.#output.push(...renderState(pipeline));
  }

  #merge(pipeline: PipelineWorld, name: string, how: string): PipelineEvent {
    const merge = pipeline.merges.find(entry => nameOf(entry.item) === name);
    if (merge === undefined) throw new Error(`no merge of ${name} is asked for`);
    return pipeline.mergeEvent(merge, mergeOutcome(pipeline, merge, how));
  }

  #build(pipeline: PipelineWorld, name: string, jobName: string): PendingBuild {
    const build = pipeline.builds.find(entry => nameOf(entry.item) === name && entry.job === jobName);
    if (build === undefined) throw new Error(`no build ${jobName} of ${name} is open`);
    return build;
  }

  #released(pipeline: PipelineWorld, name: string, pattern: string): readonly PendingBuild[] {
    const matches = new RegExp(`^(${pattern === '' ? '.*' : pattern})$`);
    return pipeline.builds.filter(
      build => (name === '*' || nameOf(build.item) === name) && matches.test(build.job),
    );
  }

  #late(pipeline: PipelineWorld, name: string, jobName: string, result: BuildResult): PipelineEvent {
    const build = pipeline.zombies.find(entry => nameOf(entry.item) === name && entry.job === jobName);
    if (build === undefined) throw new Error(`no build ${jobName} of ${name} was cancelled`);
    return pipeline.resultEvent(build, result);
  }

  #report(pipeline: PipelineWorld, name: string, how: string): void {
    const report = pipeline.reports.find(entry => nameOf(entry.item) === name);
    if (report === undefined) throw new Error(`no report of ${name} is awaited`);
    const outcome = how === 'other-tree' ? this.world.land(report.item, 'f00d') : reportOutcome(how);
    this.#turn(pipeline, [pipeline.reportEvent(report, outcome)]);
  }
}

function reportOutcome(how: string): ReportOutcome | undefined {
  switch (how) {
    case '':
      return undefined;
    case 'done':
      return { kind: 'done', landed: [] };
    case 'base-moved':
    case 'not-merged':
    case 'failed':
      return { kind: how, text: `the host says ${how}` };
    case 'withdrawn':
      return { kind: how, text: 'the project is gone' };
    case 'unsettled':
      return {
        kind: 'host',
        trouble: {
          project: projectKey({ connection: 'local', name: 'app' }),
          reason: 'timeout',
          text: 'no answer',
          unsettled: true,
        },
      };
    default:
      throw new Error(`no such report outcome: ${how}`);
  }
}

function mergeOutcome(pipeline: PipelineWorld, merge: PendingMerge, how: string): MergerOutcome {
  const common = { steps: [], worker: 'merger-1' };
  switch (how) {
    case 'ok':
      return pipeline.mergeOutcome(merge);
    case 'old':
      return pipeline.mergeOutcome(merge, { old: true });
    case 'conflict': {
      const [change] = merge.item.changes;
      return {
        kind: 'conflict',
        change: change.key,
        project: change.project,
        files: ['conflict.txt'],
        ...common,
      };
    }
    case 'failed':
    case 'broken':
      return {
        kind: 'failed',
        text: 'Unable to update local/app: no route to host',
        retryable: how === 'failed',
        ...common,
      };
    default:
      throw new Error(`no such merge outcome: ${how}`);
  }
}

/** `unit`, `unit<merge,~build`, `lint:nonvoting`, `merge:hold,failfast,attempts=2`. */
function parseJob(text: string) {
  const [head = '', parents = ''] = text.split('<');
  const [name = '', flags = ''] = head.split(':');
  const words = flags.split(',');
  const attempts = words.find(word => word.startsWith('attempts='))?.split('=')[1];
  return job(name, {
    voting: !words.includes('nonvoting'),
    holdFollowingChanges: words.includes('hold'),
    failFast: words.includes('failfast'),
    attempts: attempts === undefined ? 3 : Number(attempts),
    dependencies:
      parents === ''
        ? []
        : parents.split(',').map(parent => ({ name: parent.replace('~', ''), soft: parent.startsWith('~') })),
  });
}
