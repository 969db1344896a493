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
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'vitest';
import type { FinishedItem, LiveItem } from '../../../src/api/live-item.ts';
import type { Clock } from '../../../src/lib/clock.ts';
import {
  type HostedSetup,
  type HostedWorld,
  openHostedWorld,
  type StoryHost,
  storyFolder,
} from '../../scenario/hosted-world.ts';
import { DEADLINE } from '../../scenario/observer.ts';
import { type SiteStore, TOKEN } from '../../scenario/site.ts';
import type { Stage } from '../../scenario/stage.ts';
import type { OpenPullRequest } from '../fake/deeds/pulls.ts';
import { type FakeGithub, type FakeGithubOptions, startFakeGithub } from '../fake/fake-github.ts';
import { fullName, type Pull, type Repository } from '../fake/world.ts';
import { githubLayout } from './github-layout.ts';

export interface GithubSetup extends Omit<HostedSetup, 'executorApart'> {
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
  readonly clock?: Clock;
}

export interface GithubWorld extends Omit<HostedWorld, 'left' | 'live'> {
  readonly github: FakeGithub;
  /** acme/app. */
  readonly app: Repository;
  repository(name: string): Repository;
  /** Opens a pull request of acme/app. */
  open(request?: OpenPullRequest): Promise<Pull>;
  /** Waits until the item of the pull request has left the pipeline, and checks its result. Of several items the newest. */
  leaves(pull: Pull, result: string, pipeline?: string, repository?: Repository): Promise<FinishedItem>;
  item(pull: Pull, pipeline?: string, repository?: Repository): LiveItem | undefined;
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
/** On a loaded machine a check run may begin before the end of the one before it is read. */
const ALWAYS_EXPECTED = [/older than its event/];

/** Dispose it, or end it with `end`, which checks what must hold for every story. */
export async function openGithubWorld(setup: GithubSetup): Promise<GithubWorld> {
  const root = await storyFolder('gatehouse-github-');
  const { executorApart, expectedTrouble = [], ...shared } = setup;
  const hosted: HostedSetup = {
    ...shared,
    expectedTrouble: [...ALWAYS_EXPECTED, ...expectedTrouble],
    ...(executorApart === undefined ? {} : { executorApart: { store: executorApart, driverLines: keyless } }),
  };
  const { host, world } = await openHostedWorld(root, hosted, stage => openGithub(root, setup, stage));
  return githubWorld(host, world);
}

function keyless(lines: readonly string[]): readonly string[] {
  return lines.filter(line => !line.startsWith('app_key'));
}

interface GithubHost extends StoryHost {
  readonly github: FakeGithub;
  readonly repositories: ReadonlyMap<string, Repository>;
}

async function openGithub(root: string, setup: GithubSetup, stage: Stage): Promise<GithubHost> {
  const github = await startFakeGithub({ webhook: { secret: TOKEN }, ...setup.fake });
  const projects = setup.projects ?? ['acme/app', 'acme/library'];
  const repositories = await createRepositories(github, projects, setup.layout ?? githubLayout(), stage);
  await setup.before?.(github, repositories);
  const key = path.join(root, 'etc', 'github.pem');
  await mkdir(path.dirname(key), { recursive: true });
  await writeFile(key, github.app.privateKey, { mode: 0o600 });
  return {
    github,
    repositories,
    projects,
    driverLines: [
      'driver = github',
      `app_id = ${github.app.id}`,
      'app_key = github.pem',
      `api_url = ${github.apiUrl}`,
      `clone_url = ${github.url}`,
      ...(setup.connection ?? []),
    ],
    notify(url) {
      github.webhook.url = `${url}/api/connection/local/payload`;
    },
    settled: () => github.settled(),
    carriedOut: () => github.carriedOut(),
    takeViolations: () => github.takeViolations(),
    [Symbol.asyncDispose]: () => github[Symbol.asyncDispose](),
  };
}

function githubWorld({ github, repositories }: GithubHost, world: HostedWorld): GithubWorld {
  const repository = (name: string): Repository => {
    const found = repositories.get(name);
    if (found === undefined) throw new Error(`this story has no repository ${name}`);
    return found;
  };
  const app = repositories.get('acme/app') ?? [...repositories.values()][1];
  if (app === undefined) throw new Error('this story has no project');
  const named = (pull: Pull, of: Repository) => ({ number: pull.number, project: fullName(of) });
  return {
    ...world,
    // The service may be started again: each reading gives those of the one that runs.
    get api() {
      return world.api;
    },
    get service() {
      return world.service;
    },
    get observer() {
      return world.observer;
    },
    github,
    app,
    repository,
    open: request => github.openPull(app, request),
    leaves: (pull, result, pipeline = 'gate', of = app) => world.left(named(pull, of), result, pipeline),
    item: (pull, pipeline = 'gate', of = app) => world.live(named(pull, of), pipeline),
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
