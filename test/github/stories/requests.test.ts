/** Case 57: how many requests a change costs from its opening to its landing. */
import { expect } from 'vitest';
import type { Pull } from '../fake/world.ts';
import { githubLayout } from './github-layout.ts';
import { type GithubWorld, githubStory } from './github-world.ts';
import { webhooksProcessed } from './pull-outcomes.ts';

/** As most installations have it: results are check runs. */
const layout = githubLayout({ gateSuccess: '{check: success, merge: true, comment: false}' }).replaceAll(
  /local: \{check: (\w+)\}/g,
  'local: {check: $1, comment: false}',
);

githubStory(
  'a pull request costs eight requests from its opening to its last report, five of them reports and landing',
  { layout },
  async world => {
    const { github } = world;
    const made = await requestsOfOne(world);
    const counts = countedNames(made);
    expect(counts).toEqual({
      ...READ_AND_LANDED,
      'checks/create': 2,
      'checks/update': 2,
    });
    // A merge each for check (change, branch and configuration) and gate (without the change), the push, and the branch after the
    // landing. Each is two or three requests.
    const byGit = made.filter(({ operation }) => operation.startsWith('git/'));
    expect(byGit.filter(({ path }) => path.includes('/info/refs')).length).toBeLessThanOrEqual(7);
    expect(byGit.filter(({ operation }) => operation === 'git/fetch').length).toBeLessThanOrEqual(12);
    expect(byGit.filter(({ operation }) => operation === 'git/push')).toHaveLength(2);
    await expectMeasured(world, github.requests.filter(isReading).length);
  },
);

githubStory(
  'with comments, which reporters write by default, it costs 12',
  { layout: githubLayout() },
  async world => {
    const made = countedNames(await requestsOfOne(world));
    expect(made).toEqual({
      ...READ_AND_LANDED,
      'checks/create': 2,
      'checks/update': 2,
      'issues/create-comment': 2,
      'issues/update-comment': 2,
    });
    expect(Object.values(made).reduce((sum, count) => sum + count)).toBe(12);
  },
);

/** Opened, check ended, approved; and asked once before it landed. What comes back of the landing is known. */
const READ_AND_LANDED = { 'graphql PullState': 3, 'graphql LandingState': 1 };

/** Of one pull request, from its opening until everything is quiet. Token, rules and installation are asked for once for all of them. */
async function requestsOfOne(world: GithubWorld): Promise<GithubWorld['github']['requests']> {
  world.free();
  await landOne(world);
  await webhooksProcessed(world);
  const before = world.github.requests.length;
  await landOne(world);
  await webhooksProcessed(world);
  return world.github.requests.slice(before);
}

function isReading({ operation, body }: GithubWorld['github']['requests'][number]): boolean {
  return operation === 'graphql' && queryOf(body) === 'PullState';
}

/** Requests to the API by operation, queries by name. Those of git are counted apart. */
function countedNames(requests: GithubWorld['github']['requests']): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { operation, body } of requests) {
    if (operation.startsWith('git/')) continue;
    const name = operation === 'graphql' ? `graphql ${queryOf(body)}` : operation;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

/** The same requests as the service's own metrics have them, with the rest of what they say of GitHub. */
async function expectMeasured({ github, service, sink }: GithubWorld, readings: number): Promise<void> {
  const text = await (await fetch(`${service.url}/metrics`)).text();
  const metric = (name: string, ...labels: string[]): number => {
    const line = text
      .split('\n')
      .find(
        each =>
          each.startsWith(`${name}{`) &&
          ['connection="local"', ...labels].every(label => each.includes(label)),
      );
    return Number(line?.split(' ').at(-1) ?? 'NaN');
  };
  const requests = (operation: string, status: number) =>
    metric('gatehouse_connection_requests_total', `operation="${operation}"`, `status="${status}"`);
  expect(requests('checks/create', 201)).toBe(github.count('checks/create'));
  expect(requests('pull-state', 200)).toBeGreaterThanOrEqual(readings);
  const installation = github.world.installations.values().find(({ account }) => account === 'acme');
  const left = metric(
    'gatehouse_connection_budget_remaining',
    `installation="${installation?.id}"`,
    'resource="core"',
  );
  const { allowance, used } = github.limits('acme');
  expect(left).toBeGreaterThanOrEqual(allowance.core - used.core);
  expect(left).toBeLessThan(allowance.core);
  const arrived = metric('gatehouse_webhooks_total', 'outcome="stored"');
  expect(metric('gatehouse_event_age_seconds_count')).toBeGreaterThan(0);
  expect(metric('gatehouse_event_age_seconds_count')).toBeLessThanOrEqual(arrived);
  const last = metric('gatehouse_connection_last_event_timestamp_seconds');
  expect(Math.abs(last - Date.now() / 1000)).toBeLessThan(600);
  expect(metric('gatehouse_connection_reports_closed_total')).toBe(0);
  const event = sink.spans.find(({ name }) => name === 'GithubEvent pull_request');
  expect(event?.attributes).toMatchObject({ 'gatehouse.installation': String(installation?.id) });
  expect(event?.attributes['gatehouse.event.age_seconds']).toBeGreaterThanOrEqual(0);
}

async function landOne(world: GithubWorld): Promise<void> {
  const { github, app } = world;
  const pull = await world.open();
  await world.leaves(pull, 'SUCCESS', 'check');
  await webhooksProcessed(world);
  // The webhooks of the landing are read before the last report.
  github.faults.add({
    operation: 'graphql',
    body: /query LandingState/,
    does: { kind: 'after', what: async () => holdLastReport(world, pull) },
  });
  await github.review(app, pull, 'bob', 'APPROVED');
  await world.leaves(pull, 'SUCCESS');
}

/** Both webhooks of the landing come before that of the last report. */
function holdLastReport({ github, observer }: GithubWorld, { number }: Pull): void {
  const known = new Set(github.deliveries);
  const read = async () => {
    await github.settled();
    const events: string[] = [];
    for (const { guid, event, payload } of github.deliveries.filter(each => !known.has(each))) {
      if (event !== 'push' && (event !== 'pull_request' || payload.number !== number)) continue;
      await observer.eventProcessed(guid);
      events.push(event);
    }
    expect(events.sort()).toEqual(['pull_request', 'push']);
  };
  github.faults.add({
    operation: 'checks/update',
    body: /tenant-one\/gate/,
    does: { kind: 'after', what: read },
  });
}

function queryOf(body: unknown): string {
  return /query (\w+)/.exec(JSON.stringify(body))?.[1] ?? 'unknown';
}
