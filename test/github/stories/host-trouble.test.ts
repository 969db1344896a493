/** GitHub is away or refuses for a while: that is no verdict on any change, and all results arrive afterwards. */
import { expect } from 'vitest';
import { githubLayout } from './github-layout.ts';
import { type GithubWorld, githubStory } from './github-world.ts';

/** Of what waits for the host. */
const TROUBLE = [/host|GitHub|trouble|later|limit/i];

githubStory(
  'an outage of API and git holds a gate up, and nothing is thrown out or reported wrongly',
  { expectedTrouble: TROUBLE },
  async world => {
    const { github, app, observer } = world;
    const [first, second] = [await world.open(), await world.open()];
    await github.review(app, first, 'bob', 'APPROVED');
    await github.review(app, second, 'bob', 'APPROVED');
    await world.runs('unit: 1', 'unit: 1 2');
    github.faults.add({ times: 1, does: { kind: 'reset', after: true } });
    github.faults.add({ operation: /^git\//, times: 1, does: { kind: 'hang' } });
    const html = '<html><body>Unicorn!</body></html>';
    github.faults.add({ times: 1_000, does: { kind: 'status', status: 502, html } });
    world.release(/./);
    const third = await world.open();
    await observer.until('the first to wait for its host', () => world.item(first)?.state.name === 'host');
    expect(world.item(second)).toBeDefined();
    github.faults.heal();
    world.free();
    await world.leaves(first, 'SUCCESS');
    await world.leaves(second, 'SUCCESS');
    await world.leaves(third, 'SUCCESS', 'check');
    await allWell(world);
    expect([first, second].map(({ now }) => now.merged)).toEqual([true, true]);
  },
);

githubStory(
  'limits are waited for, without a request before their end, and without holding up other installations',
  {
    expectedTrouble: TROUBLE,
    projects: ['acme/app', 'beta/app'],
    layout: githubLayout({ projects: ['acme/app', 'beta/app'] }),
  },
  async world => {
    const { github, app } = world;
    const beta = world.repository('beta/app');
    // A primary limit: the hour is used up.
    const meter = github.limits('acme');
    Object.assign(meter.used, { core: meter.allowance.core, graphql: meter.allowance.graphql });
    meter.reset = Math.floor(Date.now() / 1000) + 6;
    const end = meter.reset * 1000;
    const from = github.requests.length;
    const ours = await world.open();
    const theirs = await github.openPull(beta);
    world.free();
    await world.leaves(theirs, 'SUCCESS', 'check', beta);
    await world.leaves(ours, 'SUCCESS', 'check');
    const served = github.requests.slice(from).filter(({ status, path, operation }) => {
      const isOfApp = path.includes('/acme/app') || operation === 'graphql';
      return isOfApp && status === 200;
    });
    const [ofBeta, ofAcme] = ['beta', 'acme'].map(owner =>
      served.find(({ body, path }) => path.includes(`/${owner}/`) || isOfOwner(body, owner)),
    );
    expect(ofAcme?.at).toBeGreaterThanOrEqual(end);
    expect(ofBeta?.at).toBeLessThan(ofAcme?.at ?? 0);

    // A secondary limit: everything of the installation waits as long as GitHub says.
    const before = github.requests.length;
    const refused = { status: 403, message: 'You have exceeded a secondary rate limit.' };
    github.faults.add({
      operation: 'checks/update',
      does: { kind: 'status', ...refused, headers: { 'retry-after': '5' } },
    });
    await github.review(app, ours, 'bob', 'APPROVED');
    await world.leaves(ours, 'SUCCESS');
    const limited = github.requests.slice(before).find(({ status }) => status === 403);
    const since = (ms: number) => (limited?.at ?? 0) + ms;
    // What was under way when the answer came arrives within the first second.
    const early = github.requests.filter(
      ({ at, operation }) => at > since(1_000) && at < since(4_900) && !/^(git|apps)\//.test(operation),
    );
    expect(early.map(({ operation, path }) => `${operation} ${path}`)).toEqual([]);
    expect(ours.now.merged).toBe(true);
    await allWell(world);
    await waitSpan(world, 'primary-limit');
    // Which installation it was: the other one waited for nothing.
    const { id } = [...github.world.installations.values()].find(({ account }) => account === 'acme') ?? {};
    const waits = world.sink.spans.filter(
      ({ attributes }) =>
        attributes['gatehouse.span.type'] === 'HostWait' &&
        attributes['gatehouse.reason'] === 'primary-limit',
    );
    expect(new Set(waits.map(({ attributes }) => attributes['gatehouse.installation']))).toEqual(
      new Set([String(id)]),
    );
  },
);

githubStory(
  'a revoked token is renewed, and a suspended installation is waited for',
  { expectedTrouble: [...TROUBLE, /suspended/] },
  async world => {
    const { github, app, observer } = world;
    const installation = [...github.world.installations.values()].find(({ account }) => account === 'acme');
    if (installation === undefined) throw new Error('the App is not installed');
    const pull = await world.open();
    await world.runs('unit: 1');
    github.revokeInstallationTokens('acme');
    await github.review(app, pull, 'bob', 'APPROVED');
    await observer.until('the gate to take it', () => world.item(pull) !== undefined);
    await world.runs('unit: 1');
    expect(github.requests.some(({ status, operation }) => status === 401 && operation === 'graphql')).toBe(
      true,
    );
    await github.suspend(installation);
    world.release(/unit/);
    await observer.until('the item to wait for its host', () => world.item(pull)?.state.name === 'host');
    await github.suspend(installation, false);
    await world.leaves(pull, 'SUCCESS');
    expect(pull.now.merged).toBe(true);
    await allWell(world);
  },
);

function isOfOwner(body: unknown, owner: string): boolean {
  return JSON.stringify(body)?.includes(`"owner":"${owner}"`) ?? false;
}

/** No run is left in progress, and each ends well or was taken out. */
async function allWell({ github, app, observer }: GithubWorld): Promise<void> {
  await observer.until('all check runs to end', () =>
    app.checks.every(({ status }) => status === 'completed'),
  );
  await github.settled();
  expect(app.checks.map(({ conclusion }) => conclusion)).not.toContain('failure');
}

async function waitSpan({ sink, observer }: GithubWorld, reason: string): Promise<void> {
  await observer.until(`a span of a wait: ${reason}`, () =>
    sink.spans.some(
      ({ attributes }) =>
        attributes['gatehouse.span.type'] === 'HostWait' && JSON.stringify(attributes).includes(reason),
    ),
  );
}
