/**
 * A service and a GitHub in one process, for stories: the real service with the real driver over HTTP and git, and jobs that end when
 * the story ends them. Every request, answer and webhook is judged by GitHub's own descriptions.
 *
 *     githubStory('an approved pull request lands', {}, async world => {
 *       const pull = await world.open({ title: 'Log in' });
 *       await world.runs('unit: 1');                          // exactly these jobs run, and nothing else moves
 *       world.free();                                         // from now on jobs end as soon as they begin
 *       await world.leaves(pull, 'SUCCESS', 'check');
 *       await world.github.review(world.app, pull, 'bob', 'APPROVED');
 *       await world.leaves(pull, 'SUCCESS');
 *     });
 *
 * bob may write, eve may read. A job is written `<job>: <numbers it is tested with, oldest first>`.
 */
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'vitest';
import type { FinishedItem, LiveItem } from '../../../src/api/live-item.ts';
import { type Api, createApi } from '../../../src/cmd/client/api.ts';
import type { Service } from '../../../src/cmd/service/service.ts';
import { type Clock, systemClock } from '../../../src/lib/clock.ts';
import { checkTraces, type OtlpSink, startOtlpSink } from '../../fake/otlp-sink.ts';
import { noteStory } from '../../fake/produced/note-story.ts';
import { DEADLINE, type Observer, observe } from '../../scenario/observer.ts';
import {
  restartSite,
  type SiteOptions,
  type SiteStore,
  startSite,
  stateOf,
  TOKEN,
} from '../../scenario/site.ts';
import { openStage, type Stage } from '../../scenario/stage.ts';
import { type StoryLog, storyLog } from '../../scenario/story-log.ts';
import type { OpenPullRequest } from '../fake/deeds/pulls.ts';
import { type FakeGithub, type FakeGithubOptions, startFakeGithub } from '../fake/fake-github.ts';
import { fullName, type Pull, type Repository } from '../fake/world.ts';
import { githubLayout } from './github-layout.ts';

export interface GithubSetup {
  /** zuul.yaml of org/config; default {@link githubLayout}. */
  readonly layout?: string;
  /** More lines of the connection's section, e.g. `landing = api`. */
  readonly connection?: readonly string[];
  /** Untrusted projects; default acme/app and acme/library. */
  readonly projects?: readonly string[];
  readonly fake?: FakeGithubOptions;
  /** At GitHub, before the service starts. */
  readonly before?: (github: FakeGithub, repositories: ReadonlyMap<string, Repository>) => Promise<void>;
  /** The executor is a service of its own, without the App's key. Both use this store. */
  readonly executorApart?: Extract<SiteStore, { readonly kind: 'zookeeper' }>;
  /** Warnings and errors of the log that belong to the story. */
  readonly expectedTrouble?: readonly RegExp[];
  readonly clock?: Clock;
  /** Every line of the log is kept. */
  readonly keepsLog?: boolean;
}

export interface GithubWorld extends AsyncDisposable {
  readonly github: FakeGithub;
  /** acme/app. */
  readonly app: Repository;
  readonly api: Api;
  /** Over the service's own socket, as an operator on its machine. */
  readonly operator: Api;
  readonly service: Service;
  readonly observer: Observer;
  readonly stage: Stage;
  readonly sink: OtlpSink;
  readonly log: StoryLog;
  /** The service's state directory. */
  readonly state: string;
  repository(name: string): Repository;
  /** Opens a pull request of acme/app. */
  open(request?: OpenPullRequest): Promise<Pull>;
  /** The job's runs for the pull request end with status 1. */
  fail(job: string, pull: Pull): void;
  /** Lets running jobs that match end: `<job>: <numbers>`. */
  release(pattern: RegExp): void;
  /** From now on jobs end as soon as they begin. */
  free(): void;
  /** Waits until exactly these jobs run, in any order, and nothing else moves. */
  runs(...jobs: readonly string[]): Promise<void>;
  /** Waits until the item of the pull request has left the pipeline, and checks its result. Of several items the newest. */
  leaves(pull: Pull, result: string, pipeline?: string, repository?: Repository): Promise<FinishedItem>;
  item(pull: Pull, pipeline?: string, repository?: Repository): LiveItem | undefined;
  /** Stops the service and starts it again. @param ending called when it has begun to stop, and may still wait for GitHub. */
  restart(ending?: () => void): Promise<void>;
  /** Lets go what is held, waits until all items have left and GitHub is quiet, and checks what must hold for every story. */
  end(): Promise<void>;
}

export function githubStory(
  name: string,
  setup: GithubSetup,
  play: (world: GithubWorld) => Promise<void>,
): void {
  test(name, { timeout: 4 * DEADLINE }, async () => {
    await using world = await openGithubWorld(setup);
    await play(world);
    await world.end();
  });
}

const CONFIG = 'org/config';
/** Jobs run without isolation here, so that the story can end them; and on a loaded machine a check run may begin before the end of
 * the one before it is read. */
const ALWAYS_EXPECTED = [/isolat|sandbox/i, /older than its webhook/];

/** Dispose it, or end it with `end`, which checks what must hold for every story. */
export async function openGithubWorld(setup: GithubSetup): Promise<GithubWorld> {
  const root = await mkdtemp(path.join(tmpdir(), 'gatehouse-github-'));
  // Where the tests run as root, jobs run as another user.
  await chmod(root, 0o755);
  const github = await startFakeGithub({ webhook: { secret: TOKEN }, ...setup.fake });
  const stage = await openStage(path.join(root, 'stage'));
  const sink = await startOtlpSink({ protocol: 'grpc' });
  const log = storyLog({ keepsAll: setup.keepsLog ?? false });
  const projects = setup.projects ?? ['acme/app', 'acme/library'];
  const repositories = await createRepositories(github, projects, setup.layout ?? githubLayout(), stage);
  await setup.before?.(github, repositories);
  const key = path.join(root, 'etc', 'github.pem');
  await mkdir(path.dirname(key), { recursive: true });
  await writeFile(key, github.app.privateKey, { mode: 0o600 });
  const site: SiteOptions = {
    root,
    projects,
    moreTenants: [],
    collector: sink.url,
    tracingOff: false,
    executor: [],
    tracing: [],
    sections: [],
    store: setup.executorApart ?? { kind: 'embedded' },
    ...(setup.executorApart === undefined ? {} : { components: ['scheduler', 'merger', 'web'] as const }),
    clock: setup.clock ?? systemClock(),
    driverLines: [
      'driver = github',
      `app_id = ${github.app.id}`,
      'app_key = github.pem',
      `api_url = ${github.apiUrl}`,
      `clone_url = ${github.url}`,
      ...(setup.connection ?? []),
    ],
  };
  const observed = (service: Service) => {
    github.webhook.url = `${service.url}/api/connection/local/payload`;
    const api = createApi(service.url);
    const observer: Observer = observe({
      api,
      stage,
      sink,
      traced: () => false,
      describe: () => `${describeItems(observer)}\n${log.tail()}`,
    });
    return { service, api, observer };
  };
  let running = observed(await startSite(site, log.log));
  await using apart = new AsyncDisposableStack();
  if (setup.executorApart !== undefined) {
    const executor = await startSite(keylessExecutor(site), log.log);
    apart.defer(() => executor.close());
  }
  return makeGithubWorld({
    root,
    apart: apart.move(),
    github,
    repositories,
    stage,
    sink,
    log,
    setup,
    running: () => running,
    async restart(ending) {
      await running.observer[Symbol.asyncDispose]();
      const closed = running.service.close();
      ending?.();
      await closed;
      // GitHub may carry out what it took from the service that ended; a story has that behind it when the next one looks.
      await github.carriedOut();
      running = observed(await restartSite(site, projects, log.log));
    },
  });
}

/** A machine that runs jobs: mirrors and directories of its own. */
function keylessExecutor(site: SiteOptions): SiteOptions {
  return {
    ...site,
    root: path.join(site.root, 'executor'),
    components: ['executor'],
    driverLines: (site.driverLines ?? []).filter(line => !line.startsWith('app_key')),
  };
}

interface Running {
  readonly service: Service;
  readonly api: Api;
  readonly observer: Observer;
}

interface Parts extends Pick<GithubWorld, 'github' | 'stage' | 'sink' | 'log' | 'restart'> {
  readonly root: string;
  /** Services beside the running one. */
  readonly apart: AsyncDisposableStack;
  readonly repositories: ReadonlyMap<string, Repository>;
  readonly setup: GithubSetup;
  readonly running: () => Running;
}

function makeGithubWorld(parts: Parts): GithubWorld {
  const { root, github, repositories, stage, sink, log, setup } = parts;
  const failures = new Set<string>();
  let held = true;
  const observer = () => parts.running().observer;
  const repository = (name: string): Repository => {
    const found = repositories.get(name);
    if (found === undefined) throw new Error(`this story has no repository ${name}`);
    return found;
  };
  const app = repositories.get('acme/app') ?? [...repositories.values()][1];
  if (app === undefined) throw new Error('this story has no project');

  function end({ uuid, job, changes }: Stage['builds'][number]): void {
    observer().ending(uuid);
    stage.end(uuid, failures.has(`${job}: ${changes.split(' ').at(-1)}`) ? 1 : 0);
  }
  const named = () =>
    observer()
      .running()
      .map(({ job, changes }) => `${job}: ${changes}`)
      .toSorted();
  const isOf =
    (pull: Pull, pipeline: string, of: Repository) =>
    (item: { readonly pipeline: string; readonly changes: LiveItem['changes'] }) =>
      item.pipeline === pipeline &&
      item.changes.some(({ name, project }) => name === String(pull.number) && project === fullName(of));
  const free = () => {
    held = false;
    for (const build of observer().running()) end(build);
  };
  stage.onCall(build => {
    if (!held) end(build);
  });

  return {
    github,
    app,
    stage,
    sink,
    log,
    state: stateOf(root),
    repository,
    operator: createApi({ kind: 'socket', path: path.join(stateOf(root), 'gatehouse.sock') }),
    get api() {
      return parts.running().api;
    },
    get service() {
      return parts.running().service;
    },
    get observer() {
      return observer();
    },
    open: request => github.openPull(app, request),
    fail: (job, { number }) => void failures.add(`${job}: ${number}`),
    release(pattern) {
      const chosen = observer()
        .running()
        .filter(({ job, changes }) => pattern.test(`${job}: ${changes}`));
      if (chosen.length === 0)
        throw new Error(`no running job matches ${pattern}; running: ${named().join(', ')}`);
      for (const build of chosen) end(build);
    },
    free,
    async runs(...jobs) {
      const wanted = JSON.stringify(jobs.toSorted());
      await observer().until(`these jobs to run: ${wanted}`, async () => {
        await observer().settle();
        return JSON.stringify(named()) === wanted;
      });
    },
    async leaves(pull, result, pipeline = 'gate', of = app) {
      const found = await observer().until(`#${pull.number} to leave ${pipeline}`, () =>
        observer().left(isOf(pull, pipeline, of)),
      );
      if (found.result !== result)
        throw new Error(
          `#${pull.number} left ${pipeline} with ${found.result} (${found.reason}), expected ${result}`,
        );
      return found;
    },
    item: (pull, pipeline = 'gate', of = app) =>
      observer()
        .items()
        .find(isOf(pull, pipeline, of)),
    restart: ending => parts.restart(ending),
    async end() {
      free();
      await observer().until('all items to leave', async () => {
        await observer().settle();
        return observer().items().length === 0;
      });
      await github.settled();
      await observer()[Symbol.asyncDispose]();
      await parts.apart.disposeAsync();
      await parts.running().service.close();
      const expected = [...ALWAYS_EXPECTED, ...(setup.expectedTrouble ?? [])];
      const problems = [
        ...log.trouble
          .filter(line => !expected.some(pattern => pattern.test(line)))
          .map(line => `the log says: ${line}`),
        ...checkTraces(sink.spans),
        ...github.takeViolations().map(each => `GitHub's rules: ${each}`),
      ];
      if (problems.length > 0) throw new Error(`at the end of the story:\n${problems.join('\n')}`);
    },
    async [Symbol.asyncDispose]() {
      await observer()[Symbol.asyncDispose]();
      await parts.apart.disposeAsync();
      await parts.running().service.close();
      noteStory(sink.spans, stateOf(root));
      stage[Symbol.dispose]();
      await sink[Symbol.asyncDispose]();
      await github[Symbol.asyncDispose]();
      await rm(root, { recursive: true, force: true });
    },
  };
}

async function createRepositories(
  github: FakeGithub,
  projects: readonly string[],
  layout: string,
  stage: Stage,
): Promise<ReadonlyMap<string, Repository>> {
  const repositories = new Map<string, Repository>();
  const files = { 'zuul.yaml': layout, 'playbooks/job.sh': stage.playbook };
  repositories.set(CONFIG, await github.repository(CONFIG, { files }));
  for (const project of projects) repositories.set(project, await github.repository(project));
  for (const each of repositories.values()) {
    github.setRole(each, 'bob', 'write');
    github.setRole(each, 'eve', 'read');
  }
  for (const owner of new Set([...repositories.keys()].map(name => name.split('/')[0] ?? '')))
    await github.install(owner);
  return repositories;
}

/** For the message of a condition that was never met. */
function describeItems(observer: Observer): string {
  const items = observer.items().map(item => {
    const jobs = item.jobs.map(job => `${job.name} ${job.result ?? job.state}`).join(', ');
    return `${item.pipeline} ${item.changes.map(change => change.text).join(' ')}: ${item.state.name} ${item.state.subject ?? ''} [${jobs}]`;
  });
  return [
    ...items,
    `running: ${
      observer
        .running()
        .map(build => `${build.job}: ${build.changes}`)
        .join('; ') || 'nothing'
    }`,
  ].join('\n');
}
