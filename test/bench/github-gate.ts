/** The real service with the real driver at the fake GitHub: a pull request opened → landed, the first job step, a gate of 20. */
import { systemClock } from '../../src/lib/clock.ts';
import { git } from '../github/fake/bare-git.ts';
import type { FakeGithub } from '../github/fake/fake-github.ts';
import type { Pull } from '../github/fake/world.ts';
import { githubLayout } from '../github/stories/github-layout.ts';
import { type GithubWorld, openGithubWorld } from '../github/stories/github-world.ts';
import type { Row } from './main.ts';

/** Milliseconds in which the fake answers, as GitHub does at its best. */
const HOST_MS = 50;
const OPENED = 12;
const WARM_UP = 2;
const GATE = 20;

type Mode = 'push' | 'api' | 'api, squash' | 'api, rebase';

/** Oracle: each pull request lands. */
export async function benchPullLatency(): Promise<readonly Row[]> {
  await using world = await openGithubWorld({});
  const { github } = world;
  slow(github);
  world.free();
  const steps: FirstStep[] = [];
  for (let round = 0; round < OPENED + WARM_UP; round++) steps.push(await firstStep(world, round));
  steps.splice(0, WARM_UP);
  const latencies = steps.map(({ ms }) => ms);
  // The token for pushes is asked for once an hour.
  await land(world, 'warm-up.txt');
  await github.settled();
  const from = github.requests.length;
  const pull = await land(world, 'counted.txt');
  await github.settled();
  if (!pull.now.merged) throw new Error('the pull request did not land');
  const requests = github.requests.slice(from).map(kindOf);
  const isGit = (operation: string) => operation.startsWith('git/');
  return [
    {
      name: `webhook → first job step, a host that takes ${HOST_MS} ms, p50`,
      value: quantile(latencies, 0.5),
      unit: 'ms',
    },
    { name: 'webhook → first job step, slowest', value: Math.max(...latencies), unit: 'ms' },
    {
      name: '  for the pull request before it, p50',
      value: quantile(
        steps.map(({ requests }) => requests),
        0.5,
      ),
      unit: 'requests',
    },
    {
      name: 'one pull request, opened → landed',
      value: requests.filter(each => !isGit(each)).length,
      unit: 'API requests',
    },
    ...[...Map.groupBy(requests, each => each)].map(([operation, { length }]) => ({
      name: `  ${operation}`,
      value: length,
      unit: isGit(operation) ? 'git requests' : 'API requests',
    })),
  ];
}

function slow(github: FakeGithub): void {
  github.faults.add({ times: Number.POSITIVE_INFINITY, does: { kind: 'late', ms: HOST_MS } });
}

/** From the webhook to the job's first line. */
interface FirstStep {
  readonly ms: number;
  /** Readings of the pull request, and git's requests to its repository. */
  readonly requests: number;
}

async function firstStep({ github, app, stage, ...world }: GithubWorld, round: number): Promise<FirstStep> {
  const { url = '' } = github.webhook;
  delete github.webhook.url;
  const pull = await github.openPull(app, { files: { [`latency-${round}.txt`]: 'x\n' } });
  const opened = github.deliveries.at(-1);
  github.webhook.url = url;
  const ran = Promise.withResolvers<FirstStep>();
  const from = github.requests.length;
  const begun = performance.now();
  stage.onCall(({ changes }) => {
    if (changes !== String(pull.number)) return;
    const ms = performance.now() - begun;
    ran.resolve({ ms, requests: github.requests.slice(from).filter(isOf(pull)).length });
  });
  github.hooks.redeliver(opened?.id ?? 0);
  const step = await ran.promise;
  await world.leaves(pull, 'SUCCESS', 'check');
  await github.settled();
  return step;
}

function isOf({ number }: Pull) {
  return ({ operation, path, body }: FakeGithub['requests'][number]) =>
    operation === 'graphql'
      ? JSON.stringify(body).includes(`"number":${number},`)
      : path.startsWith('/acme/app.git/');
}

async function land(world: GithubWorld, file: string): Promise<Pull> {
  const pull = await world.open({ files: { [file]: 'x\n' } });
  await world.leaves(pull, 'SUCCESS', 'check');
  await world.github.review(world.app, pull, 'bob', 'APPROVED');
  await world.leaves(pull, 'SUCCESS');
  return pull;
}

/** Oracle: 20 land, each tested once in the gate, and the branch holds the tree that was tested last. */
export async function benchGates(): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const mode of ['push', 'api', 'api, squash', 'api, rebase'] as const) rows.push(...(await gate(mode)));
  return rows;
}

const MERGE_MODES: { readonly [mode in Mode]: readonly string[] } = {
  push: [],
  api: [],
  'api, squash': ['merge-mode: squash-merge'],
  'api, rebase': ['merge-mode: rebase'],
};

async function gate(mode: Mode): Promise<readonly Row[]> {
  await using world = await openGithubWorld({
    layout: githubLayout({ project: MERGE_MODES[mode] }).replaceAll(
      'check: {jobs: [unit]}',
      'check: {jobs: []}',
    ),
    connection: [`landing = ${mode === 'push' ? 'push' : 'api'}`],
    clock: systemClock(),
  });
  const { github, app, stage } = world;
  const pulls: Pull[] = [];
  for (let at = 0; at < GATE; at++) pulls.push(await world.open({ files: { [`gate-${at}.txt`]: 'x\n' } }));
  world.free();
  const from = github.requests.length;
  const begun = performance.now();
  for (const pull of pulls) await github.review(app, pull, 'bob', 'APPROVED');
  for (const pull of pulls) await world.leaves(pull, 'SUCCESS');
  const seconds = (performance.now() - begun) / 1000;
  await github.settled();
  const builds = stage.builds.filter(({ pipeline }) => pipeline === 'gate').length;
  if (builds !== GATE) throw new Error(`${mode}: ${builds} builds for ${GATE} pull requests`);
  const files = (await git(app.dir, 'ls-tree', '--name-only', 'main')).split('\n');
  if (files.filter(each => each.startsWith('gate-')).length !== GATE)
    throw new Error(`${mode}: main holds ${files.join(' ')}`);
  if (pulls.some(({ now }) => !now.merged)) throw new Error(`${mode}: a pull request is not merged`);
  const requests = github.requests.slice(from).map(kindOf);
  return [
    { name: `${mode}: ${GATE} approved → landed`, value: seconds, unit: 's' },
    {
      name: `${mode}: of them at the API`,
      value: requests.filter(each => !each.startsWith('git/')).length,
      unit: 'requests',
    },
    {
      name: `${mode}: of them by git`,
      value: requests.filter(each => each.startsWith('git/')).length,
      unit: 'requests',
    },
    {
      name: `${mode}: from so many fetches and pushes`,
      value: requests.filter(each => each.endsWith(', refs')).length,
      unit: 'git processes',
    },
  ];
}

/** Each fetch or push begins with one list of refs, and has one or more exchanges after it. Queries are named. */
function kindOf({ operation, path, body }: FakeGithub['requests'][number]): string {
  if (operation === 'graphql') return `graphql ${/query (\w+)/.exec(JSON.stringify(body))?.[1]}`;
  if (!operation.startsWith('git/')) return operation;
  return `${operation}, ${path.includes('/info/refs') ? 'refs' : 'exchange'}`;
}

function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN;
}
