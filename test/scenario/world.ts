/**
 * A whole site in one process, for stories: the real service, real repositories, real pushes, and jobs that end when the story
 * says so.
 *
 *     story('what is tested lands', { layout: classicLayout() }, async world => {
 *       await world.propose('A');
 *       await world.approve('A');
 *       await world.runs('project-merge: A');        // exactly these jobs run, and nothing else moves
 *       world.release(/project-merge/);              // let it end, with the verdict the story gave it
 *       world.release(/./);
 *       await world.leaves('A', 'SUCCESS');
 *     });
 *
 * Changes are called A, B, C, ...; a job is written `<job>: <topics it is tested with, oldest first>`. When the story is over,
 * everything still held is let go, the service is stopped, and what must hold for every story is checked.
 */
import { createHmac } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Api, createApi } from '../../src/cmd/client/api.ts';
import type { Service } from '../../src/cmd/service/service.ts';
import type { LiveItem } from '../../src/web/live-item.ts';
import { type OtlpSink, startOtlpSink } from '../fake/otlp-sink.ts';
import { createDeveloper, type Developer, type Files } from './developer.ts';
import { checkStory } from './invariants.ts';
import { openLineFifo } from './line-fifo.ts';
import { type FinishedItem, type Observer, observe } from './observer.ts';
import { CONFIG_PROJECT, CONNECTION, startSite, TENANT, TOKEN } from './site.ts';
import { openStage, type Stage } from './stage.ts';
import { type StoryLog, storyLog } from './story-log.ts';

export interface WorldSetup {
  /** zuul.yaml of org/config. */
  readonly layout: string;
  /** Untrusted projects with their first files; default org/project, org/project1, org/project2. */
  readonly projects?: { readonly [name: string]: Files };
  /** More files of org/config. */
  readonly configFiles?: Files;
  /** More lines of `[executor]`. */
  readonly executor?: readonly string[];
  /** False: no collector listens until `world.sink` is started by the story. */
  readonly collectorDown?: boolean;
  /** Warnings and errors of the log that belong to the story. */
  readonly expectedTrouble?: readonly RegExp[];
}

export interface ProposalSpec {
  /** Default org/project. */
  readonly project?: string;
  readonly branch?: string;
  /** Default: one new file named for the topic. */
  readonly files?: Files;
  /** Topic of the same project the commit is made on top of. */
  readonly on?: string;
  /** Body of the commit message, e.g. `Depends-On: ...`. */
  readonly message?: string;
}

export interface World {
  readonly api: Api;
  readonly sink: OtlpSink;
  readonly stage: Stage;
  readonly observer: Observer;
  readonly log: StoryLog;
  developer(project: string): Developer;
  /** Pushes a commit as proposal, again for a new patchset; returns it. */
  propose(topic: string, spec?: ProposalSpec): Promise<string>;
  /** Approves what is proposed now, or `commit`. */
  approve(topic: string, commit?: string): Promise<void>;
  /** Takes the approval back. */
  withdraw(topic: string): Promise<void>;
  abandon(topic: string): Promise<void>;
  /** Pushes anything anywhere and tells the gate. @param to null: deletes. */
  push(project: string, to: string | null, ref: string): Promise<void>;
  /** The job's runs for the change end with status 1. */
  fail(job: string, topic: string): void;
  mend(job: string, topic: string): void;
  /** Lets running jobs that match end; their description is `<job>: <topics>`. @throws Error when none matches. */
  release(pattern: RegExp): void;
  /** From now on jobs end as soon as they begin. */
  free(): void;
  /** Waits until exactly these jobs run, in any order, and nothing else moves. */
  runs(...jobs: readonly string[]): Promise<void>;
  /** Waits until the item of the change has left the pipeline and checks its result. */
  leaves(topic: string, result: string, pipeline?: string): Promise<FinishedItem>;
  /** The live item of the change. */
  item(topic: string, pipeline?: string): LiveItem | undefined;
  /** Topics of the pipeline's items in queue order. */
  queued(pipeline?: string): readonly string[];
  /** Every build that ran and whose item has left: `<job>: <topics> <result>`, sorted. */
  history(): Promise<readonly string[]>;
  /** Topics as they were landed, by order of the branch. */
  landed(project?: string, branch?: string): Promise<readonly string[]>;
  /** Notes on the present commit of the topic, one paragraph each; waits until there are `count`. */
  notes(topic: string, count?: number): Promise<readonly string[]>;
  /** Sentences that say what became of the change, oldest first. */
  decisions(
    topic: string,
  ): Promise<readonly { readonly code: string; readonly text: string; readonly pipeline: string | null }[]>;
  /** Lets go what is held, waits until all items have left, stops the service, and checks what must hold for every story. */
  end(): Promise<void>;
  /** Stops and removes everything; after `end` or instead of it. */
  [Symbol.asyncDispose](): Promise<void>;
}

interface Topic {
  readonly project: string;
  readonly branch: string;
  commit: string;
}

const PROJECTS = {
  'org/project': { 'README.md': 'A project.\n' },
  'org/project1': { 'README.md': 'Another.\n' },
  'org/project2': { 'README.md': 'A third.\n' },
};

export async function openWorld(setup: WorldSetup): Promise<World> {
  const root = await mkdtemp(path.join(tmpdir(), 'gatehouse-story-'));
  // Where the tests run as root, jobs run as somebody else.
  await chmod(root, 0o755);
  const projects = setup.projects ?? PROJECTS;
  const sink = await startOtlpSink();
  if (setup.collectorDown === true) sink.answerAlways({ kind: 'status', code: 14 });
  const stage = openStage(path.join(root, 'stage'));
  const log = storyLog();
  const developers = new Map<string, Developer>();
  const told = path.join(root, 'told');
  const pushes: { heard: (project: string) => void } = { heard: () => {} };
  const hooks = openLineFifo(told, project => pushes.heard(project));
  const config = { 'zuul.yaml': setup.layout, 'playbooks/job.sh': stage.playbook, ...setup.configFiles };
  for (const [name, files] of Object.entries({ [CONFIG_PROJECT]: config, ...projects }))
    developers.set(name, await createDeveloper(root, name, files, told));
  const service = await startSite(
    { root, projects: Object.keys(projects), collector: sink.url, executor: setup.executor ?? [] },
    log.log,
  );
  const api = createApi(service.url);
  const observer: Observer = observe({
    api,
    stage,
    sink,
    traced: () => setup.collectorDown !== true,
    describe: () => `${describe(observer)}\n${log.tail()}`,
  });
  return makeWorld({ root, setup, sink, stage, log, developers, service, api, observer, hooks, pushes });
}

interface Parts {
  readonly root: string;
  readonly setup: WorldSetup;
  readonly sink: OtlpSink;
  readonly stage: Stage;
  readonly log: StoryLog;
  readonly developers: ReadonlyMap<string, Developer>;
  readonly service: Service;
  readonly api: Api;
  readonly observer: Observer;
  /** The hooks of the repositories, and who listens to them. */
  readonly hooks: Disposable;
  readonly pushes: { heard: (project: string) => void };
}

function makeWorld(parts: Parts): World {
  const { root, setup, sink, stage, log, developers, service, api, observer, hooks, pushes } = parts;
  const topics = new Map<string, Topic>();
  const failures = new Set<string>();
  let held = true;
  let deliveries = 0;

  const developer = (project: string) => needed(developers.get(project), `project ${project}`);
  const topicOf = (topic: string) => needed(topics.get(topic), `topic ${topic}`);
  const verdict = (job: string, changes: string) =>
    failures.has(`${job}: ${changes.split(' ').at(-1)}`) ? 1 : 0;

  function end(uuid: string, job: string, changes: string): void {
    observer.told(uuid);
    stage.tell(uuid, verdict(job, changes));
  }

  stage.onCall(build => {
    if (!held) end(build.uuid, build.job, build.changes);
  });

  // What the gate pushes comes back to it as news, as from any code host.
  pushes.heard = project => {
    tell(project).catch(error => log.log.error({ err: error }, 'the story could not deliver a webhook'));
  };

  /** @returns the delivery id. */
  async function tell(project: string): Promise<string> {
    deliveries += 1;
    const delivery = `story-${deliveries}`;
    const body = JSON.stringify({ project });
    const signature = createHmac('sha256', TOKEN).update(body).digest('hex');
    const response = await fetch(`${service.url}/api/connection/${CONNECTION}/payload`, {
      method: 'POST',
      body,
      headers: {
        'Content-Type': 'application/json',
        'X-Gatehouse-Delivery': delivery,
        'X-Gatehouse-Signature': `sha256=${signature}`,
      },
    });
    if (!response.ok) throw new Error(`the webhook was refused: ${await response.text()}`);
    return `delivery-${delivery}`;
  }

  async function push(project: string, to: string | null, ref: string): Promise<void> {
    await developer(project).push(to, ref);
    // One after the other: of two pushes that arrive together nobody knows the order.
    await observer.eventProcessed(await tell(project));
  }

  const isOf =
    (topic: string, pipeline: string) =>
    (item: { readonly pipeline: string; readonly changes: LiveItem['changes'] }) =>
      item.pipeline === pipeline &&
      item.changes.some(
        change =>
          change.name === nameOf(topic, topicOf(topic).branch) && change.project === topicOf(topic).project,
      );

  function running(): readonly string[] {
    return observer
      .running()
      .map(build => `${build.job}: ${build.changes}`)
      .toSorted();
  }

  function free(): void {
    held = false;
    for (const build of observer.running()) end(build.uuid, build.job, build.changes);
  }

  const world: World = {
    api,
    sink,
    stage,
    observer,
    log,
    developer,
    push,
    async propose(topic, { project = 'org/project', branch = 'master', files, on, message = '' } = {}) {
      const commit = await developer(project).commit({
        files: files ?? { [`${topic}.txt`]: `${topic}, ${topics.has(topic) ? 'again' : 'first'}\n` },
        message: `Change ${topic}${message === '' ? '' : `\n\n${message}`}`,
        branch,
        ...(on === undefined ? {} : { parent: topicOf(on).commit }),
      });
      topics.set(topic, { project, branch, commit });
      await push(project, commit, `refs/heads/for/${branch}/${topic}`);
      return commit;
    },
    async approve(topic, commit) {
      const known = topicOf(topic);
      await push(known.project, commit ?? known.commit, `refs/heads/gate/${known.branch}/${topic}`);
    },
    async withdraw(topic) {
      const { project, branch } = topicOf(topic);
      await push(project, null, `refs/heads/gate/${branch}/${topic}`);
    },
    async abandon(topic) {
      const { project, branch } = topicOf(topic);
      await push(project, null, `refs/heads/for/${branch}/${topic}`);
    },
    fail: (job, topic) => void failures.add(`${job}: ${topic}`),
    mend: (job, topic) => void failures.delete(`${job}: ${topic}`),
    release(pattern) {
      const chosen = observer.running().filter(build => pattern.test(`${build.job}: ${build.changes}`));
      if (chosen.length === 0)
        throw new Error(`no running job matches ${pattern}; running: ${running().join(', ')}`);
      for (const build of chosen) end(build.uuid, build.job, build.changes);
    },
    free,
    async runs(...jobs) {
      const wanted = JSON.stringify(jobs.toSorted());
      await observer.until(`these jobs to run: ${wanted}`, async () => {
        await observer.settle();
        return JSON.stringify(running()) === wanted;
      });
    },
    async leaves(topic, result, pipeline = 'gate') {
      const found = await observer.until(`${topic} to leave ${pipeline}`, async () => {
        if (observer.items().some(isOf(topic, pipeline))) return undefined;
        return (await observer.finished()).find(isOf(topic, pipeline));
      });
      if (found.result !== result)
        throw new Error(
          `${topic} left ${pipeline} with ${found.result} (${found.reason}), expected ${result}`,
        );
      return found;
    },
    item: (topic, pipeline = 'gate') => observer.items().find(isOf(topic, pipeline)),
    queued(pipeline = 'gate') {
      const queues = observer.view()?.pipelines.find(each => each.name === pipeline)?.queues ?? [];
      return queues.flatMap(queue =>
        queue.items.map(uuid => shownTopic(observer.view()?.items.get(uuid)?.changes[0]?.name ?? uuid)),
      );
    },
    async history() {
      const builds = await api.get<
        readonly { readonly uuid: string; readonly result: string; readonly start_time: string | null }[]
      >(`/api/tenant/${TENANT}/builds?limit=200`);
      return builds
        .flatMap(({ uuid, result }) => {
          const staged = stage.builds.find(build => build.uuid === uuid);
          return staged === undefined ? [] : [`${staged.job}: ${staged.changes} ${result}`];
        })
        .toSorted();
    },
    async landed(project = 'org/project', branch = 'master') {
      const log = await developer(project).git(
        'log',
        '--first-parent',
        '--merges',
        '--reverse',
        '--format=%s',
        branch,
      );
      return log
        .split('\n')
        .flatMap(subject => (subject === '' ? [] : [shownTopic(subject.slice(`Merge ${project} `.length))]));
    },
    async notes(topic, count = 0) {
      const { project, commit } = topicOf(topic);
      const read = async () => {
        const text = await developer(project)
          .git('notes', '--ref=gatehouse', 'show', commit)
          .catch(() => '');
        return text.split(/\n\n+/).filter(paragraph => paragraph.trim() !== '');
      };
      return observer.until(`${count} notes on ${topic}`, async () => {
        const notes = await read();
        return notes.length >= count ? notes : undefined;
      });
    },
    async decisions(topic) {
      const { project, branch } = topicOf(topic);
      const answer = await api.get<{
        readonly decisions: readonly {
          readonly code: string;
          readonly text: string;
          readonly pipeline: string | null;
        }[];
      }>(
        `/api/tenant/${TENANT}/changes/${nameOf(topic, branch)}/decisions?project=${encodeURIComponent(project)}`,
      );
      return answer.decisions;
    },
    async end() {
      free();
      await observer.until(
        'all items to leave',
        () => observer.view() !== undefined && observer.items().length === 0,
      );
      await observer[Symbol.asyncDispose]();
      await service.close();
      await checkStory({
        root,
        sink,
        log,
        projects: [...developers.values()],
        expectedTrouble: setup.expectedTrouble ?? [],
      });
    },
    async [Symbol.asyncDispose]() {
      await observer[Symbol.asyncDispose]();
      await service.close();
      stage[Symbol.dispose]();
      hooks[Symbol.dispose]();
      await sink[Symbol.asyncDispose]();
      await rm(root, { recursive: true, force: true });
    },
  };
  return world;
}

function needed<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`this story has no ${what}`);
  return value;
}

function nameOf(topic: string, branch: string): string {
  return `${branch}/${topic}`;
}

function shownTopic(name: string): string {
  return name.replace(/^master\//, '');
}

/** For the message of a condition that was never met. */
function describe(observer: Observer): string {
  const items = observer.items().map(item => {
    const jobs = item.jobs.map(job => `${job.name} ${job.result ?? job.state}`).join(', ');
    return `${item.pipeline} ${item.changes.map(change => change.text).join(' ')}: ${item.state.name} ${item.state.subject ?? ''} [${jobs}]`;
  });
  const running = observer.running().map(build => `${build.job}: ${build.changes}`);
  return [...items, `running: ${running.join('; ') || 'nothing'}`].join('\n');
}
