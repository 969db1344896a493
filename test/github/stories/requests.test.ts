/** Case 57: how many requests a change costs from its opening to its landing. */
import { expect } from 'vitest';
import type { Pull } from '../fake/world.ts';
import { githubLayout } from './github-layout.ts';
import { type GithubWorld, githubStory } from './github-world.ts';

/** As most installations have it: results are check runs. */
const layout = githubLayout({ gateSuccess: '{check: success, merge: true, comment: false}' }).replaceAll(
  /local: \{check: (\w+)\}/g,
  'local: {check: $1, comment: false}',
);

githubStory(
  'a pull request costs 10 to 14 requests from its opening to its last report, five of them reports and landing',
  { layout },
  async world => {
    const { github } = world;
    world.free();
    // Installation, token and rules are asked for once for all pull requests.
    await landOne(world);
    const before = github.requests.length;
    await landOne(world);
    const all = github.requests.slice(before);
    const made = all.slice(0, all.findLastIndex(({ operation }) => operation === 'checks/update') + 1);
    const counts: Record<string, number> = {};
    for (const { operation, body } of made) {
      if (operation.startsWith('git/')) continue;
      const name = operation === 'graphql' ? `graphql ${queryOf(body)}` : operation;
      counts[name] = (counts[name] ?? 0) + 1;
    }
    const { 'graphql PullState': readings = 0, 'graphql RefState': refs = 0, ...others } = counts;
    expect(others).toEqual({
      'checks/create': 2,
      'checks/update': 2,
      'graphql LandingState': 1,
    });
    // Opened, check ended, approved, landed: webhooks that come in between are read by themselves.
    expect(readings).toBeLessThanOrEqual(7);
    expect(refs).toBeLessThanOrEqual(2);
    // A merge each for check (change, branch and configuration) and gate (without the change), the push, and the branch after the
    // landing before, which may come late. Each is two or three requests.
    const byGit = made.filter(({ operation }) => operation.startsWith('git/'));
    expect(byGit.filter(({ path }) => path.includes('/info/refs')).length).toBeLessThanOrEqual(7);
    expect(byGit.filter(({ operation }) => operation === 'git/fetch').length).toBeLessThanOrEqual(12);
    expect(byGit.filter(({ operation }) => operation === 'git/push')).toHaveLength(2);
    await expectMeasured(world, counts['graphql PullState'] ?? 0);
  },
);

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
  await world.observer.settle();
  // The webhooks of the landing are read before the last report.
  github.faults.add({
    operation: 'graphql',
    body: /query LandingState/,
    does: { kind: 'after', what: async () => holdLastReport(world, pull) },
  });
  await github.review(app, pull, 'bob', 'APPROVED');
  await world.leaves(pull, 'SUCCESS');
}

function holdLastReport({ github, observer }: GithubWorld, { number }: Pull): void {
  const known = new Set(github.deliveries);
  const read = async () => {
    for (const { guid, event, payload } of github.deliveries.filter(each => !known.has(each)))
      if (event === 'push' || (event === 'pull_request' && payload.number === number))
        await observer.eventProcessed(guid);
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
