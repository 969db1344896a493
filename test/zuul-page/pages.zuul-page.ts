/**
 * Zuul's built dashboard, served as the migration guide says, on the real service: each of its pages draws what there is, without an error on its
 * console and without a refused request.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { expect, inject, test } from 'vitest';
import { launchBrowser, STILL } from '../e2e/browser.ts';
import { authSection, startProvider } from '../e2e/sign-in-provider.ts';
import { startNginx } from '../fake/nginx.ts';
import { nodesFolder } from '../fake/nodes-folder.ts';
import { keyPair } from '../fake/ssh-host.ts';
import { layoutWith } from '../scenario/layouts.ts';
import { openWorld } from '../scenario/open-world.ts';
import type { World } from '../scenario/world.ts';
import { ZUUL_PAGE } from './install-zuul-page.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const GUIDE = 'doc/guide/migrate-from-zuul.md';
/** Where to put the pictures; not set: none are taken. */
const SHOTS = process.env.ZUUL_PAGE_SHOTS;

const layout = layoutWith(
  `
- semaphore: {name: rig, max: 2}
- job:
    name: unit
    description: Tests the units.
    semaphores: [rig]
- job: {name: docs, ansible-version: '9', dependencies: [unit]}
- project:
    name: org/project
    check: {jobs: [unit, docs]}
    gate: {jobs: [unit]}
`,
  { check: true },
);

/** A page of Zuul's, and texts that it shows when it has drawn what is there. */
interface Shown {
  readonly name: string;
  /** Below the tenant; with a slash in front below the root. */
  readonly at: string;
  readonly shows: readonly (string | RegExp)[];
  /** Before the texts are there. */
  readonly act?: (page: Page) => Promise<void>;
}

interface Found {
  readonly build: string;
  readonly failed: string;
  readonly running: string;
  readonly buildset: string;
  readonly failedSet: string;
  readonly conflict: string;
}

function pages({ build, failed, running, buildset, conflict }: Found): readonly Shown[] {
  const log = ['RUN START', 'RESULT: SUCCESS'];
  return [
    { name: 'tenants', at: '/tenants', shows: ['tenant-one'] },
    { name: 'components', at: '/components', shows: ['executor', 'merger', 'scheduler', 'running'] },
    { name: 'openapi', at: '/openapi', shows: ['/api/tenant/{tenant}/builds'] },
    { name: 'status', at: 'status', shows: ['check', 'gate'] },
    { name: 'status of a pipeline', at: 'status/pipeline/gate', shows: ['gate', /master\/D/, 'org/project'] },
    { name: 'status of a change', at: 'status/change/master%2FD', shows: [/master\/D/, 'unit'] },
    { name: 'change with a slash', at: 'status/change/master/D', shows: [/master\/D/, 'unit'] },
    { name: 'projects', at: 'projects', shows: ['org/project', 'local', 'config'] },
    {
      name: 'project',
      at: 'project/org/project',
      shows: ['Project org/project', 'check', 'gate', 'unit', 'View Job Graph'],
    },
    { name: 'jobs', at: 'jobs', shows: ['unit', 'Tests the units.', 'base'] },
    { name: 'job', at: 'job/unit', shows: ['unit', 'Tests the units.', 'rig'] },
    { name: 'labels', at: 'labels', shows: ['debian'] },
    { name: 'nodes', at: 'nodes', shows: ['web1', 'debian', 'ready', 'static'] },
    { name: 'node', at: 'node/web1', shows: ['web1', 'debian', 'ready'] },
    { name: 'autoholds', at: 'autoholds', shows: ['0000000000', 'why does it fail'] },
    { name: 'autohold', at: 'autohold/0000000000', shows: ['0000000000', 'why does it fail', 'unit'] },
    { name: 'semaphores', at: 'semaphores', shows: ['rig', /^1$/, /^2$/] },
    { name: 'semaphore', at: 'semaphore/rig', shows: ['rig', 'unit'] },
    { name: 'builds', at: 'builds', shows: ['unit', 'SUCCESS', 'FAILURE', 'org/project'] },
    {
      name: 'builds, filtered',
      at: 'builds?job_name=unit&result=FAILURE&project=org%2Fproject&held=0&voting=1',
      shows: ['unit', 'FAILURE'],
    },
    { name: 'build', at: `build/${build}`, shows: ['unit', 'SUCCESS', 'View buildset result'] },
    { name: 'failed build', at: `build/${failed}`, shows: ['unit', 'FAILURE'] },
    { name: 'build: artifacts', at: `build/${build}/artifacts`, shows: ['Zuul Manifest'] },
    { name: 'build: logs', at: `build/${build}/logs`, shows: ['job-output.txt', 'zuul-info'] },
    { name: 'build: console', at: `build/${build}/console`, shows: ['unit'] },
    { name: 'build: log', at: `build/${build}/log/job-output.txt`, shows: log },
    { name: 'stream', at: `stream/${running}?logfile=console.log`, shows: ['RUN START'] },
    { name: 'buildsets', at: 'buildsets', shows: ['SUCCESS', 'MERGE_CONFLICT', 'org/project'] },
    { name: 'buildset', at: `buildset/${buildset}`, shows: ['unit', 'docs', 'Buildset duration'] },
    { name: 'buildset without builds', at: `buildset/${conflict}`, shows: ['MERGE_CONFLICT', 'org/project'] },
    {
      name: 'freeze-job',
      at: 'freeze-job?pipeline=check&project=org%2Fproject&branch=master&job=unit',
      shows: ['unit', 'Tests the units.'],
    },
    { name: 'system-events', at: 'system-events', shows: ['The configuration in force was read'] },
    { name: 'config-errors', at: 'config-errors', shows: ['org/config', 'warning', 'no-effect'] },
  ];
}

/** What the pages ask for in vain by their nature: job-output.json in its compressed form. */
const ASKED_IN_VAIN = /\/job-output\.json\.gz$/;
/** What Zuul's page has its library say of its own forms, on any server. */
const OF_ITS_OWN =
  /: (id is required to make input accessible|Text input requires either an id|Switch requires either a label)/;

test('every page of Zuul’s dashboard draws what the service has, and acts', async () => {
  const [chromium, nginx] = [inject('chromium'), inject('nginx')];
  if (chromium.kind === 'none') throw new Error(`no Chromium: ${chromium.reason}`);
  if (nginx.kind === 'none') throw new Error(`no nginx: ${nginx.reason}`);
  await using provider = await startProvider();
  await using nodes = await nodesFolder([{ name: 'web1', port: 1, hostKey: keyPair().public }]);
  const world = await openWorld(
    {
      layout,
      tenantOptions: ['admin-rules: [ci]'],
      tenantStanzas: '- authorization-rule: {name: ci, conditions: [{groups: ci}]}\n',
      sections: [...authSection(provider.issuer), nodes.section],
      // For the page of configuration errors.
      expectedTrouble: [/"ansible-version" has no effect/],
    },
    { kind: 'embedded' },
  );
  try {
    await using proxy = await startNginx(nginx.program, world.service.url, locations());
    provider.open(proxy.url);
    const found = await play(world);
    const browser = await launchBrowser(chromium.program);
    try {
      const page = await browser.newPage({ ...STILL, viewport: { width: 1366, height: 900 } });
      const table = await drawn(page, proxy.url, pages(found));
      table.push(...(await acts(page, proxy.url, world, found)));
      expect(table.filter(([, outcome]) => outcome !== 'drawn')).toEqual([]);
    } finally {
      await browser.close();
    }
    world.free();
    await world.end();
  } finally {
    await world[Symbol.asyncDispose]();
  }
});

/** The configuration of the guide, with this machine's folder. */
function locations(): string {
  const text = readFileSync(path.join(ROOT, GUIDE), 'utf8');
  const [, block = ''] = /^```nginx\n(.*?)^```$/ms.exec(text) ?? [];
  return block.replace(/^root .*;$/m, `root ${ZUUL_PAGE};`);
}

/** A passes, B fails, C conflicts, D runs. */
async function play(world: World): Promise<Found> {
  await world.propose('A', { files: { 'same.txt': 'one thing\n' } });
  await world.runs('unit: A');
  world.release(/./);
  await world.runs('docs: A');
  world.release(/./);
  await world.leaves('A', 'SUCCESS', 'check');
  await world.approve('A');
  await world.runs('unit: A');
  await world.propose('C', { files: { 'same.txt': 'another thing\n' } });
  await world.runs('unit: A', 'unit: C');
  await world.approve('C');
  world.release(/unit/);
  await world.leaves('C', 'MERGE_CONFLICT');
  await world.runs('docs: C');
  world.release(/./);
  await world.leaves('C', 'SUCCESS', 'check');
  await world.operator.post('/api/tenant/tenant-one/project/org/project/autohold', {
    ...{ job: 'unit', reason: 'why does it fail', count: 1, node_hold_expiration: 3600 },
  });
  world.fail('unit', 'B');
  await world.propose('B');
  await world.runs('unit: B');
  world.release(/./);
  await world.leaves('B', 'FAILURE', 'check');
  await world.propose('D');
  await world.runs('unit: D');
  world.release(/./);
  await world.runs('docs: D');
  await world.approve('D');
  await world.runs('docs: D', 'unit: D');
  type Row = { readonly uuid: string; readonly result: string; readonly job_name: string };
  const builds = await world.api.get<readonly Row[]>('/api/tenant/tenant-one/builds?job_name=unit');
  const buildsets = await world.api.get<readonly Row[]>('/api/tenant/tenant-one/buildsets?pipeline=check');
  const conflicts = await world.api.get<readonly Row[]>(
    '/api/tenant/tenant-one/buildsets?result=MERGE_CONFLICT',
  );
  return {
    build: builds.find(({ result }) => result === 'SUCCESS')?.uuid ?? '',
    failed: builds.find(({ result }) => result === 'FAILURE')?.uuid ?? '',
    running: world.item('D', 'gate')?.jobs[0]?.build ?? '',
    buildset: buildsets.find(({ result }) => result === 'SUCCESS')?.uuid ?? '',
    failedSet: buildsets.find(({ result }) => result === 'FAILURE')?.uuid ?? '',
    conflict: conflicts[0]?.uuid ?? '',
  };
}

type Line = [name: string, outcome: string];
type Table = Line[];

function say(line: Line): Line {
  process.stdout.write(`${line[0].padEnd(26)}${line[1]}\n`);
  return line;
}

async function drawn(page: Page, root: string, all: readonly Shown[]): Promise<Table> {
  const table: Table = [];
  for (const shown of all) {
    const faults = faultsOf(page);
    await page.goto(shown.at.startsWith('/') ? `${root}${shown.at}` : `${root}/t/tenant-one/${shown.at}`);
    await shown.act?.(page);
    const missing: string[] = [];
    for (const text of shown.shows)
      await page
        .getByText(text)
        .filter({ visible: true })
        .first()
        .waitFor({ timeout: 60_000 })
        .catch(() => missing.push(`does not show ${text}`));
    if (SHOTS !== undefined)
      await page.screenshot({ path: path.join(SHOTS, `${shown.name.replaceAll(/\W+/g, '-')}.png`) });
    const problems = [...missing, ...faults.take()];
    table.push(say([shown.name, problems.length === 0 ? 'drawn' : problems.join('; ')]));
  }
  return table;
}

/** Errors of scripts, refused requests, and toasts, from now on. */
function faultsOf(page: Page) {
  const faults: string[] = [];
  const onError = (error: Error) => faults.push(error.message);
  const onConsole = (message: { type(): string; text(): string; location(): { url: string } }) => {
    const { url } = message.location();
    // The form of the provider takes its font from elsewhere.
    const isElsewhere = URL.canParse(url) && new URL(url).hostname !== '127.0.0.1';
    const isKnown = ASKED_IN_VAIN.test(url) || OF_ITS_OWN.test(message.text()) || isElsewhere;
    if (message.type() === 'error' && !isKnown) faults.push(message.text());
  };
  const onResponse = (response: { status(): number; url(): string }) => {
    const { pathname } = new URL(response.url());
    if (response.status() >= 400 && !ASKED_IN_VAIN.test(pathname))
      faults.push(`${response.status()} ${pathname}`);
  };
  page.on('pageerror', onError).on('console', onConsole).on('response', onResponse);
  return {
    take() {
      page.off('pageerror', onError).off('console', onConsole).off('response', onResponse);
      return faults;
    },
  };
}

/** What a person does there, with what has to come of it. */
async function acts(page: Page, root: string, world: World, found: Found): Promise<Table> {
  page.setDefaultTimeout(20_000);
  const table: Table = [];
  const act = async (name: string, at: string, perform: () => Promise<unknown>) => {
    const faults = faultsOf(page);
    await page.goto(`${root}/t/tenant-one/${at}`);
    await perform().catch(async (error: unknown) => {
      if (SHOTS !== undefined) await page.screenshot({ path: path.join(SHOTS, `act-${name}.png`) });
      throw new Error(`${name}: ${faults.take().join('; ')}`, { cause: error });
    });
    if (SHOTS !== undefined) await page.screenshot({ path: path.join(SHOTS, `act-${name}.png`) });
    table.push(say([`act: ${name}`, faults.take().join('; ') || 'drawn']));
  };
  const confirm = () => page.getByRole('button', { name: 'Confirm' }).click();
  const holds = async () =>
    (
      await world.api.get<
        readonly { readonly job: string; readonly ref_filter: string; readonly reason: string }[]
      >('/api/tenant/tenant-one/autohold')
    ).map(({ job, ref_filter, reason }) => `${job} ${ref_filter} ${reason}`);
  const ofItem = (name: string, action: string) => async () => {
    const card = page.locator('.zuul-queue-item', { hasText: name });
    await card.getByRole('button', { name: 'Actions' }).click();
    await page.getByText(action).click();
    await confirm();
  };

  await act('sign in', 'status/pipeline/gate', async () => {
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.locator('[name=login]').fill('alice');
    await page.locator('[name=password]').fill('any');
    await page.locator('[type=submit]').click();
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.waitForURL(/status\/pipeline\/gate/);
    await page.getByRole('button', { name: 'Actions' }).first().waitFor();
  });
  await act('promote', 'status/pipeline/gate', async () => {
    await world.propose('E');
    await world.approve('E');
    await world.observer.until('E to be behind D', () => world.queued('gate').join() === 'D,E');
    await ofItem('master/E', 'Promote this change to the top of the queue')();
    await world.observer.until('E to be ahead', () => world.queued('gate')[0] === 'E');
  });
  await act('dequeue', 'status/pipeline/gate', async () => {
    await ofItem('master/D', 'Stop all jobs for this change')();
    await world.leaves('D', 'DEQUEUED');
  });
  await act('enqueue', `buildset/${found.failedSet}`, async () => {
    await page.getByText('Re-enqueue buildset').click();
    await confirm();
    await page.getByText('Change enqueued successfully.').waitFor();
    await world.observer.until('B to be in check', () => world.queued('check').includes('B'));
  });
  const branch = 'pipeline=check&project=org%2Fproject&ref_type=Branch&ref=master';
  await act('enqueue of a branch', 'status', async () => {
    // Only who may enqueue has that page: it is not there before the page knows that.
    await page.getByRole('link', { name: 'Enqueue', exact: true }).waitFor();
    await page.evaluate(
      `history.pushState(null, '', '/t/tenant-one/enqueue?${branch}'); dispatchEvent(new PopStateEvent('popstate'))`,
    );
    await page.getByRole('button', { name: 'Enqueue', exact: true }).click();
    await page.getByText('Enqueue successful.').waitFor();
  });
  await act('autohold of a build', `build/${found.failed}`, async () => {
    await page.getByText('Autohold future build failure(s)').click();
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByText('Autohold request set successfully.').waitFor();
    expect(await holds()).toContainEqual(expect.stringMatching(/^unit .*B.* Requested from the web UI by /));
  });
  await act('autohold', 'autoholds', async () => {
    await page.getByText('Create Request').click();
    await page.locator('[name=project]').fill('org/project');
    await page.locator('[name=job_name]').fill('docs');
    await page.locator('[name=reason]').fill('look at it');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByText('Autohold request set successfully.').waitFor();
    expect(await holds()).toContainEqual(expect.stringMatching(/^docs \S+ look at it$/));
  });
  return table;
}
