/** The status page in a real browser. */
import { stat } from 'node:fs/promises';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { addMilliseconds, type Clock } from '../../src/lib/clock.ts';
import type {
  DescribedThing,
  JobVariantDescription,
  LayoutDescription,
} from '../../src/model/layout-description.ts';
import type { QueueItem } from '../../src/model/queue-item.ts';
import { itemSpans } from '../../src/tracing/spans/item-spans.ts';
import { describeOnChromium } from '../setup/chromium.ts';
import { busyMoment } from '../unit/forecast/busy-days.ts';
import { type FakeOptions, type FakeWeb, fakeWeb, sampleSnapshot } from '../unit/web/fake-web.ts';
import { checkItems, gateItems, NOW } from '../unit/web/sample-gate.ts';
import { SAMPLE_HOLDS, sampleNodes } from '../unit/web/sample-hosts.ts';
import { at, sampleChange, sampleItem, uuidOf } from '../unit/web/sample-item.ts';
import { axeFindings } from './accessibility.ts';
import { launchBrowser, STILL } from './browser.ts';

/** Runs from {@link NOW}. */
function runningClock(): Clock {
  const start = performance.now();
  return { now: () => addMilliseconds(NOW, performance.now() - start), monotonic: () => performance.now() };
}

describeOnChromium('the page', executablePath => {
  let browser: Browser;
  let web: FakeWeb;
  /** Of the test before: it answers until the page has left it. */
  let webBefore: FakeWeb | undefined;
  let page: Page;
  /** Of all tests that leave it as it was: a page that is new costs twice as much to load. Each web is an origin of its own. */
  let shared: Page;
  /** Errors of scripts and refusals of the content security policy. */
  let problems: string[];

  beforeAll(async () => {
    browser = await launchBrowser(executablePath);
    problems = [];
    shared = await newPage();
  });
  afterAll(async () => {
    await browser.close();
    await webBefore?.close();
  });

  beforeEach(async () => {
    web = await startWeb();
    problems = [];
    page = shared;
  });
  afterEach(async () => {
    if (page !== shared) await page.context().close();
    await webBefore?.close();
    webBefore = web;
    expect(problems).toEqual([]);
    expect(web.warnings).toEqual([]);
  });

  function startWeb(port = 0, sse: FakeOptions['sse'] = {}): Promise<FakeWeb> {
    return fakeWeb({
      port,
      sse,
      clock: runningClock(),
      limits: { closeTimeout: 200 },
      overrides: {
        spansOf: item => itemSpans(item),
        describe: async (_tenant, thing) => described(thing),
        nodes: async () => sampleNodes(),
        holds: async () => SAMPLE_HOLDS,
      },
    });
  }

  async function newPage(): Promise<Page> {
    const size = { viewport: { width: 1280, height: 900 } };
    const context = await browser.newContext({ ...STILL, ...size, colorScheme: 'light' });
    return watch(await context.newPage());
  }

  function watch(made: Page): Page {
    made.setDefaultTimeout(15_000);
    made.on('pageerror', error => problems.push(String(error)));
    made.on('console', message => {
      const isAbsence = message.text().includes('ERR_') || message.text().includes('404');
      if (message.type() === 'error' && !isAbsence) problems.push(message.text());
    });
    return made;
  }

  /** 503 while as many are open as may be; takes none itself. */
  const askForStream = async () =>
    (await fetch(`${web.url}/api/tenant/main/events`, { method: 'HEAD' })).status;
  const card = (name: string) => page.locator(`[data-item="${uuidOf(name)}"]`);
  const leave = (item: QueueItem): QueueItem => ({
    ...item,
    phase: { phase: 'left', at: at(310), reason: 'reported', result: 'SUCCESS' },
  });

  test('shows every queue with its items in order, their states and jobs', async () => {
    await page.goto(web.url);
    const gate = page.getByRole('region', { name: 'Pipeline gate' });
    await gate.getByText('integrated').waitFor();

    expect(await gate.locator('.item h4').allInnerTexts()).toEqual([
      'Give retries a budget',
      'Remember the session for a week',
      'Dark colours for the settings page',
      'Fix a typo in the error text',
      'Second version of the public API',
      'Explain the settings page',
    ]);
    expect(await card('retry-budget').locator('.chip').innerText()).toMatch(/^running\s+4m \d\ds$/);
    expect(await card('fast-login').innerText()).toContain('failing: at least one job failed');
    expect(await card('fast-login').locator('.subject').innerText()).toBe('acme/lib master/retry-budget');
    expect(await card('docs').locator('.chip').innerText()).toMatch(/^outside window/);
    expect(await card('retry-budget').locator('.job').allInnerTexts()).toEqual([
      expect.stringContaining('lint'),
      expect.stringContaining('unit-tests'),
      expect.stringMatching(/integration[\s\S]*↻2/),
      expect.stringMatching(/coverage non-voting/),
    ]);
    expect(await page.getByText('Empty: post.').isVisible()).toBe(true);
  });

  test('says which build had an item tested again and what that cost', async () => {
    await page.goto(web.url);
    expect(await card('dark-mode').locator('.reset').innerText()).toMatch(
      /tested again: unit-tests of acme\/app master\/fast-login,[0-9a-f]{8} ended with FAILURE · 3m 57s of build time lost/,
    );
  });

  test('says what is the matter with the code host an item waits for', async () => {
    const [head, ...behind] = gateItems();
    const [{ project }] = head!.changes;
    const hostWait = { project, doing: 'report', reason: 'limited', text: 'answers 403', tries: 3 } as const;
    const waiting: QueueItem = {
      ...head!,
      timeline: [...head!.timeline, { state: 'host', since: at(305), subject: 'local' }],
      hostWait: { ...hostWait, since: at(300), retryAt: at(320) },
    };
    web.change(sampleSnapshot({ gate: [waiting, ...behind], check: checkItems() }));
    await page.goto(web.url);
    const notice = 'the code host of acme/lib is failing, 3 tries so far: answers 403';
    expect(await card('retry-budget').locator('.trouble').innerText()).toContain(notice);
    expect(await card('retry-budget').locator('.chip').innerText()).toMatch(/^awaits code host/);
    await card('retry-budget').locator('a.title').click();
    await page.locator('main .trouble', { hasText: notice }).waitFor();
  });

  test('says when items will land, on the board and on their own pages', async () => {
    const { at: now, queued, left } = busyMoment();
    await web.close();
    web = await fakeWeb({
      snapshot: sampleSnapshot({ gate: queued, check: [] }),
      limits: { closeTimeout: 200 },
    });
    web.setNow(now);
    await web.history.record(left.map(item => ({ kind: 'item', item }) as const));
    await page.goto(web.url);
    const line = /place 1\s*lands about \d\d:\d\d(:\d\d)? \(\d\d:\d\d(:\d\d)? – \d\d:\d\d(:\d\d)?\)/;
    await page.locator('.forecast:visible').first().waitFor();
    expect(await page.locator('.forecast').first().innerText()).toMatch(line);
    expect(await page.locator('.forecast:visible').count()).toBe(queued.length);
    await page.locator(`#link-${queued[0]!.uuid}`).click();
    await page.locator('.item-head .forecast:visible').waitFor();
    expect(await page.locator('.item-head .forecast').innerText()).toMatch(line);
  });

  test('shows the items that fit a search, and opens what a uuid names', async () => {
    await page.goto(web.url);
    await card('docs').waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('DARK col');
    await card('docs').waitFor({ state: 'hidden' });
    expect(await page.locator('[data-item]:visible').count()).toBe(1);
    expect(new URL(page.url()).search).toBe('?q=DARK+col');
    web.change(sampleSnapshot({ gate: gateItems().slice(1), check: checkItems() }));
    await card('retry-budget').waitFor({ state: 'detached' });
    expect(await page.locator('[data-item]:visible').count()).toBe(1);
    await page.getByLabel('Search the queues').fill('nothing like it');
    await page.getByText('Nothing in the queues fits.').waitFor();
    const build = uuidOf('schema', 'build', '1', 'unit-tests', '1');
    await page.getByLabel('Search the queues').fill(build);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'unit-tests' }).waitFor();
    expect(new URL(page.url()).pathname).toBe(`/t/main/build/${build}`);
  });

  test('follows what happens without being loaded again', async () => {
    await page.goto(web.url);
    await card('retry-budget').waitFor();
    const [head, ...rest] = gateItems();
    web.change(sampleSnapshot({ gate: rest, check: checkItems() }));
    await card('retry-budget').waitFor({ state: 'detached' });
    await web.history.record([{ kind: 'item', item: leave(head!) }]);

    await page.locator('.finished a', { hasText: 'Give retries a budget' }).waitFor();
    const [failing, ...behind] = rest;
    const reported = {
      ...failing!,
      timeline: [...failing!.timeline, { state: 'reporting', since: at(305) }],
    } as unknown as QueueItem;
    web.change(sampleSnapshot({ gate: [reported, ...behind], check: checkItems() }));
    await card('fast-login').getByText('reporting').waitFor();
  });

  test('lets its clocks run between two updates', async () => {
    await page.goto(web.url);
    const age = card('retry-budget').locator('.age');
    const before = await age.innerText();
    await expect.poll(() => age.innerText(), { timeout: 15_000 }).not.toBe(before);
  });

  test('opens an item by keyboard and draws its trace with the reset and the spans still open', async () => {
    await page.goto(web.url);
    await card('dark-mode').waitFor();
    await page.locator(`#link-${uuidOf('dark-mode')}`).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('tree').locator('.span-row').first().waitFor();

    expect(new URL(page.url()).pathname).toBe(`/t/main/item/${uuidOf('dark-mode')}`);
    const names = await page.locator('.span-row .name').allInnerTexts();
    expect(names.map(name => name.trim())).toEqual(
      expect.arrayContaining(['BuildSet 1', 'BuildSet 2', 'Build unit-tests', 'Wait executor']),
    );
    expect(await page.locator('.reset-mark').count()).toBe(1);
    expect(await page.locator('.span-bar.is-open').count()).toBeGreaterThanOrEqual(3);
    expect(await page.locator('.legend').innerText()).toContain('waiting');
    const link = page.getByRole('link', { name: /open in the trace viewer/ });
    expect(await link.getAttribute('href')).toContain(`/trace/${uuidOf('dark-mode')}`);
    const all = page.getByRole('link', { name: /all its traces/ });
    expect(await all.getAttribute('href')).toContain('/search?service=gatehouse&tags=');

    const row = page.locator('.span-row', { hasText: 'QueueItem' });
    const before = await row.locator('.time').innerText();
    await expect.poll(() => row.locator('.time').innerText(), { timeout: 15_000 }).not.toBe(before);
    await page.goBack();
    await card('dark-mode').waitFor();
  });

  test('moves through the trace with the arrow keys and unfolds a build', async () => {
    await page.goto(`${web.url}/t/main/item/${uuidOf('dark-mode')}`);
    await page.locator('.span-row').first().focus();
    expect(await page.locator('.span-row', { hasText: 'ExecutorQueue' }).count()).toBe(0);
    for (let step = 0; step < 3; step++) await page.keyboard.press('ArrowDown');
    expect(await page.locator('.span-row:focus .name').innerText()).toContain('Build lint');
    await page.keyboard.press('ArrowRight');

    await page.locator('.span-row', { hasText: 'ExecutorQueue' }).waitFor();
    expect(await page.locator('.span-row:focus').getAttribute('aria-expanded')).toBe('true');
    await page.keyboard.press('ArrowDown');
    expect(await page.getByRole('tooltip').innerText()).toContain('ExecutorQueue');
  });

  test('explains where the time went, state by state and link by link', async () => {
    await page.goto(`${web.url}/t/main/item/${uuidOf('metrics')}`);
    await page.locator('.path li').first().waitFor();

    expect(await page.locator('.total').innerText()).toBe('3m 58s');
    expect(await page.locator('.states li').first().innerText()).toMatch(/running\s+3m 42s\s+93 %/);
    expect(await page.locator('.resets li').innerText()).toMatch(
      /an item ahead failed: unit-tests of acme\/app master\/schema,.* 1m 49s lost|1m 49s lost/s,
    );
    expect(await page.locator('.path').innerText()).toContain('discarded by a reset');
    expect(await page.locator('.item-head .chip').innerText()).toBe('✓ passed');
  });

  test('puts an item beside the last of its project and branch that passed', async () => {
    await page.goto(`${web.url}/t/main/item/${uuidOf('retry-budget')}`);
    await page.locator('.beside summary').press('Enter');
    await page.locator('.beside tbody tr').first().waitFor();

    expect(await page.locator('.beside p').first().innerText()).toContain(
      'Beside it: acme/lib master/metrics',
    );
    expect(await page.locator('.beside tr', { hasText: 'running' }).innerText()).toMatch(/3m 42s/);
    expect(await page.locator('.beside').innerText()).toContain('Too few items have passed');
    expect(await axeFindings(page)).toEqual([]);
    await page.locator('.beside a').click();
    await page.locator('.item-head', { hasText: 'master/metrics' }).waitFor();
  });

  test('says whom an item waits for and what that one does meanwhile', async () => {
    await page.goto(`${web.url}/t/main/item/${uuidOf('fast-login')}`);
    await page.locator('.waited li').waitFor();
    expect(await page.locator('.waited li').innerText()).toMatch(
      /[\dm ]+s\s+acme\/lib master\/retry-budget\s+meanwhile: running [\dm ]+s/,
    );
  });

  test('leads from a pipeline to where its time went, and from there to the slowest item', async () => {
    await page.goto(web.url);
    await page.getByRole('region', { name: 'Pipeline gate' }).getByText('delays').click();
    await page.getByRole('heading', { name: 'Delays in gate' }).waitFor();
    await page.locator('.tiles').waitFor();
    expect(new URL(page.url()).pathname).toBe('/t/main/pipeline/gate');
    expect(await page.locator('.tiles').innerText()).toMatch(/in the queue\s+6\s+window 5/);
    const longest = page.locator('.numbers tbody tr').first();
    expect(await longest.innerText()).toMatch(/^running\s+/);
    expect(await longest.getByRole('link').getAttribute('href')).toBe(
      `/t/main/item/${uuidOf('retry-budget')}`,
    );
    expect(await page.locator('.tiles a').first().getAttribute('href')).toBe(
      '/t/main/buildsets?pipeline=gate&result=SUCCESS',
    );
    expect(await page.getByRole('region', { name: 'By job' }).innerText()).toMatch(/unit-tests\s+4×/);
    expect(await page.locator('.load-column .run').count()).toBeGreaterThan(0);
    // The whole gate: a row for each item, lines from the culprits, and the ghost of the one that landed.
    const rows = page.getByRole('list', { name: 'Items over time' }).getByRole('listitem');
    expect(await rows.count()).toBe(8);
    expect(
      await rows.filter({ hasText: 'master/metrics' }).getByRole('img').getAttribute('aria-label'),
    ).toMatch(
      /tested again 1 time, passed after 3m 58s, without acme\/app master\/schema,.* landed 1m 30s earlier$/,
    );
    expect(await page.locator('.gate-arrow').count()).toBe(2);
    expect(await page.locator('.gate .gate-ghost-mark').count()).toBe(1);
    const worst = page.getByRole('group', { name: 'Worst culprits' }).locator('tbody tr');
    expect(await worst.first().innerText()).toMatch(
      /unit-tests of acme\/app master\/schema,\w+\s+\S+\s+1m 30s\s+1 item\s+1\s/,
    );
    expect(await page.getByRole('group', { name: 'Executors' }).innerText()).toMatch(/executor-1\s+\d+/);
    // Who reset whom: each names the build that did it, and the item that paid.
    const cases = page.getByRole('list', { name: 'Resets' }).getByRole('listitem');
    expect(await cases.count()).toBe(4);
    expect(await cases.last().innerText()).toMatch(/unit-tests of acme\/app master\/fast-login/);
    expect(await cases.last().getByRole('link', { name: 'unit-tests' }).getAttribute('href')).toBe(
      `/t/main/build/${uuidOf('fast-login', 'build', '1', 'unit-tests', '1')}`,
    );
    expect(await page.locator('.slowest li').first().locator('.viewer a').getAttribute('href')).toContain(
      `/trace/${uuidOf('retry-budget')}?uiFind=`,
    );

    // Page by page, and as the terminal's `gatehouse night` names it.
    await page.goto(`${web.url}/t/main/pipeline/gate?since=12h&skip=6`);
    await page.getByText('1 to 2 of 8 items').waitFor();
    expect(await rows.count()).toBe(2);
    await page.getByRole('link', { name: 'Later →' }).click();
    await page.getByText('1 to 2 of 8 items').waitFor({ state: 'detached' });
    await expect.poll(() => rows.count(), { timeout: 15_000 }).toBe(8);
    await page.goto(`${web.url}/t/main/night`);
    await page.locator('.periods [aria-current]', { hasText: '12h' }).waitFor();
    expect(page.url()).toBe(`${web.url}/t/main/pipeline/gate?since=12h`);

    await page.getByRole('link', { name: '7d' }).click();
    await page.locator('.periods [aria-current]', { hasText: '7d' }).waitFor();
    expect(new URL(page.url()).search).toBe('?since=7d');
    await page.locator('.slowest .title').first().click();
    await page.getByRole('heading', { name: 'Give retries a budget' }).waitFor();
    await page.goBack();
    await page.locator('.periods [aria-current]', { hasText: '7d' }).waitFor();
  });

  test('leads to each page of a tenant, says what there is not, and shows the state in its title and icon', async () => {
    const icon = () => page.locator('link[rel="icon"]').getAttribute('href');
    await page.goto(`${web.url}/t/main/pipeline/post`);
    await page.getByText('The pipeline had no items in this period.').waitFor();
    await expect.poll(() => page.title(), { timeout: 15_000 }).toBe('Delays in post · main · Gatehouse');
    await expect.poll(icon, { timeout: 15_000 }).toMatch(/icon-failing\.svg$/);
    const links = page.getByRole('navigation', { name: 'Pages' });
    await links.getByRole('link', { name: 'Components' }).click();
    await page.getByRole('heading', { name: '3 components' }).waitFor();
    expect(await page.locator('tbody tr', { hasText: 'executor-4' }).innerText()).toMatch(
      /ci2\s+paused\s+0\.1\.0.*labels linux · no limit of cpu: this system has no cgroup v2/s,
    );
    await links.getByRole('link', { name: 'Delays' }).click();
    await page.getByRole('heading', { name: 'Delays in gate' }).waitFor();
    expect(await links.locator('[aria-current]').innerText()).toBe('Delays');
    await links.getByRole('link', { name: 'Status' }).click();
    await card('docs').waitFor();
    await expect
      .poll(() => page.title(), { timeout: 15_000 })
      .toBe('✕ 1 of 8 items failing · main · Gatehouse');
    await card('docs').locator('a.title').click();
    await expect
      .poll(() => page.title(), { timeout: 15_000 })
      .toBe('outside window: Explain the settings page · main · Gatehouse');

    const nothing = '0'.repeat(32);
    // What cannot be asked is not said to be missing.
    for (const [asked, path] of [
      [`**/buildset/${nothing}`, `buildset/${nothing}`],
      ['**/api/tenant/main/pipelines', 'delays'],
    ] as const) {
      await page.route(asked, (route, request) =>
        request.isNavigationRequest() ? route.continue() : route.fulfill({ status: 503 }),
      );
      await page.goto(`${web.url}/t/main/${path}`);
      await page.getByText(/This page cannot be loaded .* 503/).waitFor();
      await page.unroute(asked);
    }
    expect(problems.splice(0)).toEqual([expect.stringContaining('503'), expect.stringContaining('503')]);
    for (const [path, text] of [
      ['pipeline/nope', 'There is no such pipeline.'],
      [`item/${nothing}`, 'There is no such item'],
      [`build/${nothing}`, 'There is no such build'],
      [`buildset/${nothing}`, 'There is no such buildset.'],
      ['nonsense', 'There is no page at this address.'],
    ]) {
      expect((await fetch(`${web.url}/t/main/${path}`)).status).toBe(404);
      await goWithin(page, `/t/main/${path}`);
      await page.getByText(text!).waitFor();
    }
    expect((await page.goto(`${web.url}/t/nope`))?.status()).toBe(404);
    await page.getByText('There is no tenant nope.').waitFor();
    expect(await page.locator('#banner').isVisible()).toBe(false);
    await page.getByRole('navigation', { name: 'Tenants' }).getByRole('link', { name: 'main' }).click();
    await card('docs').waitFor();
  });

  test('lists builds by filters in the address, page by page, and the numbers of jobs', async () => {
    const builds = await web.history.builds({ tenant: 'main', limit: 1000 });
    await page.goto(`${web.url}/t/main/builds`);
    await page.locator('tbody tr').first().waitFor();
    expect(await page.locator('tbody tr').count()).toBe(builds.length);
    await page.getByLabel('Job').fill('unit-*');
    await page.getByLabel('Result').selectOption('FAILURE');
    await page.getByRole('button', { name: 'Show' }).click();
    await page.getByRole('link', { name: 'Clear' }).waitFor();
    expect(new URL(page.url()).search).toBe('?job_name=unit-*&result=FAILURE');
    const failed = builds.filter(({ job_name, result }) => job_name === 'unit-tests' && result === 'FAILURE');
    expect(await page.locator('tbody tr').count()).toBe(failed.length);
    await page.goBack();
    await page.getByRole('link', { name: 'Clear' }).waitFor({ state: 'detached' });

    const many = Array.from({ length: 60 }, (_, number) =>
      leave(
        sampleItem(`many-${number}`, {
          project: 'acme/app',
          subject: 'One of many',
          at: number,
          buildsets: [{ at: number, builds: [{ job: 'soak', times: [number, number + 1, number + 9] }] }],
          timeline: [['running', number]],
        }),
      ),
    );
    await web.history.record(many.map(item => ({ kind: 'item', item }) as const));
    await page.goto(`${web.url}/t/main/builds?job_name=soak`);
    await page.getByRole('link', { name: 'Older →' }).click();
    await page.getByRole('link', { name: '← Newest' }).waitFor();
    expect(await page.locator('tbody tr').count()).toBe(10);
    expect(await page.getByRole('link', { name: 'Older →' }).count()).toBe(0);
    await page.getByRole('link', { name: '← Newest' }).click();
    await page.getByRole('link', { name: 'Older →' }).waitFor();
    expect(await page.locator('tbody tr').count()).toBe(50);

    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Jobs' }).click();
    await page.locator('td a', { hasText: 'unit-tests' }).click();
    await page.getByRole('heading', { name: 'Job unit-tests' }).waitFor();
    const days = page.getByRole('group', { name: 'By day, in UTC' });
    expect(await days.locator('tbody tr').innerText()).toMatch(/2026-11-20\s+3\s+50 %\s+–\s+1m 32s/);
    expect(await page.getByRole('group', { name: 'Configuration' }).locator('tbody').innerText()).toMatch(
      /acme\/app @ master \.zuul\.yaml\s+base\s+non-voting · timeout 10m 00s · runs ci\/test\.sh/,
    );
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Projects' }).click();
    await page.getByRole('link', { name: 'acme/lib' }).click();
    await page.getByText('queue integrated · merge mode rebase · default branch master').waitFor();
    expect(await page.locator('.errors li').count()).toBe(1);
    expect(await page.locator('tbody tr').innerText()).toMatch(/gate\s+unit-tests\s+acme\/app @ master/);
    expect((await fetch(`${web.url}/t/main/job/nope`)).status).toBe(404);
    await goWithin(page, '/t/main/job/nope');
    await page.getByText('There is no such job.').waitFor();
    await goWithin(page, '/t/main/queues');
    await page.getByRole('heading', { name: '3 queues with items' }).waitFor();
    expect(await page.locator('tbody tr', { hasText: 'gate' }).innerText()).toMatch(
      /integrated\s+6\s+5\s+1\s+Give retries a budget/,
    );
  });

  test('shows the decisions about a change', async () => {
    await page.goto(`${web.url}/t/main/item/${uuidOf('fast-login')}`);
    await page.locator('.decisions li').first().waitFor();
    expect(await page.locator('.decisions').innerText()).toContain(
      'enqueued in queue integrated at position 2 of 2',
    );
  });

  test('goes on showing an item that leaves while it is looked at', async () => {
    await page.goto(`${web.url}/t/main/item/${uuidOf('retry-budget')}`);
    await page.getByRole('tree').waitFor();
    const [head, ...rest] = gateItems();
    web.change(sampleSnapshot({ gate: rest, check: checkItems() }));
    await web.history.record([{ kind: 'item', item: leave(head!) }]);
    await page.locator('.item-head .chip', { hasText: 'passed' }).waitFor();
  });

  test('leads from the buildset a report names to its item', async () => {
    await page.goto(`${web.url}/t/main/buildset/${uuidOf('metrics', 'buildset', '1')}`);
    await page.getByRole('heading', { name: 'Count cache misses' }).waitFor();
    expect(new URL(page.url()).pathname).toBe(`/t/main/item/${uuidOf('metrics')}`);
  });

  test("follows a log while it grows, in colour, without obeying it or taking its lines for the executor's", async () => {
    const build = uuidOf('retry-budget', 'build', '1', 'integration', '2');
    const output = page.locator('.log-output');
    web.logs.set(build, {
      text: '\x1b[31mred\x1b[0m <b>not bold</b>\n\x1b]0;title\x07plain größ',
      complete: false,
    });
    const asked = page.waitForEvent('websocket').then(socket => socket.waitForEvent('framesent'));
    await page.goto(`${web.url}/t/main/build/${build}`);
    await page.getByText('not bold').waitFor();
    expect(await output.innerText()).toBe('red <b>not bold</b>');
    expect(await output.locator('.c1').innerText()).toBe('red');

    expect(String((await asked).payload)).toContain('"gatehouse":{"offset":');
    const stamp = '2026-11-20 17:53:01.123456';
    const more = [
      `${web.logs.get(build)!.text}er`,
      `${stamp} | ${stamp} # RUN END: passed`,
      `${stamp} | \x1b[31m2 %\r67 %\r100 %`,
      `${stamp} # RUN END: failed`,
    ];
    web.logs.set(build, { text: more.join('\n'), complete: true });
    await page.getByText('Complete.').waitFor();
    expect(await output.innerText()).toBe(
      `red <b>not bold</b>\nplain größer\n${stamp} # RUN END: passed\n100 %\nRUN END: failed`,
    );
    expect(await output.locator('.c1').allInnerTexts()).toEqual(['red', '100 %']);
    expect(await output.locator('.of-executor').allInnerTexts()).toEqual(['RUN END: failed']);
    await page.getByLabel('times').check();
    expect(await output.locator('.of-executor').innerText()).toBe('17:53:01.123\nRUN END: failed');
  });

  test('finds its way in a long log: lines as links, search, errors, folds, files, and the whole of it', async () => {
    const build = uuidOf('schema', 'build', '1', 'unit-tests', '1');
    const stamp = '2026-11-20 17:53:01.123456';
    const tests = Array.from({ length: 200_000 }, (_, number) => `${stamp} | test ${number} ok`);
    tests[150_000] = `${stamp} | FAILED: test 150000`;
    const text = [`${stamp} # RUN START: x`, ...tests, `${stamp} # RUN END: x: failed`, ''].join('\n');
    web.logs.set(build, { text, complete: true });
    web.files.set(build, { 'reports/junit.xml': '<x/>' });
    await page.goto(`${web.url}/t/main/build/${build}#L1000-L1002`);
    await page.getByText('Complete.').waitFor();
    const selected = page.locator('.is-selected .log-text');
    expect(await selected.allInnerTexts()).toEqual(['test 998 ok', 'test 999 ok', 'test 1000 ok']);
    expect(await page.locator('.log-line').count()).toBeLessThan(100);
    await page.getByRole('link', { name: 'reports/junit.xml' }).waitFor();

    await page.locator('[data-line="1004"] .log-number').click({ modifiers: ['Shift'] });
    expect(new URL(page.url()).hash).toBe('#L1000-L1004');
    await page.locator('.log-output').focus();
    await page.keyboard.press('e');
    await selected.getByText('FAILED: test 150000').waitFor();
    expect(new URL(page.url()).hash).toBe('#L150002');
    await page.keyboard.press('/');
    await page.keyboard.type('TEST 19999');
    await page.getByText('1 of 11 lines').waitFor({ timeout: 30_000 });
    await page.keyboard.press('Enter');
    await selected.getByText('test 199990 ok').waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('g');
    await page.getByRole('button', { name: 'Fold lines 1 to' }).click();
    expect(await page.locator('.log-text').allInnerTexts()).toEqual(['RUN START: x', 'RUN END: x: failed']);
    await page.keyboard.press('n');
    await selected.getByText('test 199991 ok').waitFor();

    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download' }).click(),
    ]);
    expect((await stat(await download.path())).size).toBe(text.length);
    const raw = page.getByRole('link', { name: 'Raw' });
    expect(await raw.getAttribute('href')).toBe(`/api/tenant/main/build/${build}/logs/job-output.txt`);
  });

  test('shows hostile names as the text they are', async () => {
    const subject = '<img src=x onerror="document.title=\'owned\'"><script>alert(1)</script>';
    const change = {
      ...sampleChange('evil', 'acme/app', subject),
      owner: '<b>eve</b>',
      url: 'javascript:alert(1)',
    };
    const item = sampleItem('evil', {
      change,
      at: 290,
      buildsets: [{ at: 290 }],
      timeline: [['running', 290, '<i>x</i>']],
    });
    web.change(sampleSnapshot({ gate: [item], check: [] }));
    await page.goto(web.url);
    await card('evil').waitFor();
    expect(await card('evil').locator('h4').innerText()).toBe(subject);
    expect(await page.locator('main img, main script, main b >> text=eve').count()).toBe(0);

    await card('evil').locator('a.title').click();
    await page.getByRole('tree').waitFor();
    expect(await page.locator('a[href^="javascript"]').count()).toBe(0);
    expect(await page.title()).not.toBe('owned');
  });

  test('says what to do when nothing is there', async () => {
    web.change(sampleSnapshot({ gate: [], check: [] }));
    await page.goto(web.url);
    await page.getByRole('heading', { name: 'All queues are empty' }).waitFor();
    expect(await page.locator('.empty').innerText()).toContain(
      'git push origin HEAD:refs/heads/for/master/my-change',
    );
  });

  test.each(['/', '/t/main'])(
    'opened at %s before the service knows its tenants, shows them when it does',
    async path => {
      web.started = false;
      await page.goto(web.url + path);
      await page.getByText(path === '/' ? 'No tenant yet' : 'No data of tenant main yet').waitFor();
      web.started = true;
      await card('docs').waitFor();
      await page.locator('.live.is-on').waitFor();
      expect(await page.locator('#banner').isVisible()).toBe(false);
    },
  );

  test('lists semaphores, nodes, labels and autoholds of a tenant, and finds what is searched', async () => {
    await page.goto(`${web.url}/t/main/semaphores`);
    await page.getByRole('heading', { name: '2 semaphores' }).waitFor();
    // Its stylesheet may come after it.
    await expect
      .poll(() => page.locator('.errors > li').allInnerTexts(), { timeout: 15_000 })
      .toEqual(['db\n0 of 2 held', 'licence\nglobal 0 of 1 held']);
    await page.getByLabel('Search the semaphores').fill('LIC');
    expect(await page.locator('.errors > li:visible').allInnerTexts()).toEqual([
      'licence\nglobal 0 of 1 held',
    ]);
    expect(new URL(page.url()).search).toBe('?q=LIC');

    const links = page.getByRole('navigation', { name: 'Pages' });
    const row = (text: string) => page.locator('tbody tr', { hasText: text });
    await links.getByRole('link', { name: 'Nodes' }).click();
    await page.getByRole('heading', { name: '4 nodes' }).waitFor();
    expect(await row('arm-1').innerText()).toMatch(
      /held\s+arm\s+0 of 2\s.*\d\d:57:00\s+why does it fail\? · build [0-9a-f]{8} · until .*\d\d:57:00/s,
    );
    expect(await row('arm-2').innerText()).toMatch(/held for another tenant\s*$/);
    expect(await row('big-1').innerText()).toMatch(
      /failed\s+big, debian\s.*does not answer · looked at again at/s,
    );
    await page.getByLabel('Search the nodes').fill('failed');
    expect(await page.locator('tbody tr:visible').count()).toBe(1);
    await links.getByRole('link', { name: 'Labels' }).click();
    await page.getByRole('heading', { name: '4 labels' }).waitFor();
    expect(await row('arm').innerText()).toMatch(/arm\s+2\s+–\s+–\s+2\s+–/);
    expect(await row('linux').innerText()).toContain('executors only');
    await links.getByRole('link', { name: 'Autoholds' }).click();
    await page.getByRole('heading', { name: '1 autohold' }).waitFor();
    expect(await row('unit-tests').innerText()).toMatch(
      /any change\s+2 of 2\s+arm-1 of build [0-9a-f]{8} since .*, until .*workspace \/jobs\/\.held\/x of ci1 of build .*, until .*why does it fail\?.* by ada \(company\), for 1h 00m each/s,
    );
    await row('unit-tests').getByRole('link', { name: 'build' }).first().click();
    await page.getByRole('heading', { name: 'unit-tests' }).waitFor();
  });

  test('lists the tests of a build that failed, with how often each did', async () => {
    const build = uuidOf('fast-login', 'build', '1', 'unit-tests', '1');
    const address = `${web.url}/api/tenant/main/build/${build}`;
    const found = JSON.parse(await (await fetch(address)).text());
    const tests = { cases: 3, failed: 1, skipped: 0, failed_elsewhere: 1 };
    const failure = {
      ...{ suite: 'app', name: 'login', message: '<b>expected 401</b>' },
      judged: 'failed 3 of 41 runs in 14 days, on 2 other changes',
    };
    const answers = new Map<string, object>([
      [address, { ...found, result: 'FAILURE', gatehouse: { ...found.gatehouse, tests } }],
      [`${address}/tests`, { failures: [failure], totals: tests }],
    ]);
    const asked = (url: URL) => answers.has(url.href);
    await page.route(asked, (route, request) => route.fulfill({ json: answers.get(request.url()) }));
    try {
      await page.goto(`${web.url}/t/main/build/${build}`);
      await page.getByText('1 test failed').waitFor();
      expect(await page.getByLabel('Failed tests').innerText()).toBe(
        'app: login failed 3 of 41 runs in 14 days, on 2 other changes\n<b>expected 401</b>',
      );
    } finally {
      await page.unroute(asked);
    }
  });

  test('lists what is wrong in the configuration', async () => {
    await page.goto(web.url);
    await page.getByRole('link', { name: 'Config errors 2' }).click();
    await page.locator('.errors li').first().waitFor();
    expect(await page.locator('.errors li').allInnerTexts()).toEqual([
      'acme/lib @ master .zuul.yaml:4:3\nunknown key "tiemout", did you mean "timeout"?',
      'connection local\nwarning lands changes of a cycle one by one',
    ]);
  });

  test('says of a private tenant that it takes a token', async () => {
    web.access = {
      main: { accessRules: [{ name: 'staff', conditions: [{ groups: 'staff' }] }], adminRules: [] },
    };
    await page.goto(`${web.url}/t/main`);
    await page.getByText('Reading tenant main takes a token, or there is no such tenant.').waitFor();
    // The browser reports each refusal.
    expect(problems.every(text => text.includes('401'))).toBe(true);
    problems.length = 0;
    web.access = {};
    await page.getByText('Tests what will be merged').first().waitFor();
    await page.getByText('Reading tenant main').waitFor({ state: 'hidden' });
    problems.length = 0;
  });

  test('says so when the connection is lost and when it is back', async () => {
    await page.goto(web.url);
    await card('docs').waitFor();
    const port = Number(new URL(web.url).port);
    await web.close();
    await page
      .locator('#banner', { hasText: 'Connection lost; showing the state of' })
      .waitFor({ timeout: 10_000 });
    expect(await card('docs').isVisible()).toBe(true);

    web = await startWeb(port);
    await page.locator('#banner').waitFor({ state: 'hidden', timeout: 15_000 });
    await page.locator('.live.is-on').waitFor();
  });

  test('shares one stream among eight tabs, and closes it while none of them is seen', async () => {
    await web.close();
    // A second stream would be refused.
    web = await startWeb(0, { maxClients: 1 });
    const tabs: Page[] = [page];
    for (let count = 0; count < 7; count++) tabs.push(watch(await page.context().newPage()));
    for (const tab of tabs) {
      await tab.goto(web.url);
      await tab.locator('.live.is-on').waitFor();
      await tab.locator(`[data-item="${uuidOf('retry-budget')}"]`).waitFor();
    }
    expect(await askForStream()).toBe(503);

    for (const tab of tabs.slice(1)) await setHidden(tab, true);
    web.change(sampleSnapshot({ gate: gateItems().slice(1), check: checkItems() }));
    await tabs[0]!.locator(`[data-item="${uuidOf('retry-budget')}"]`).waitFor({ state: 'detached' });
    await setHidden(tabs[0]!, true);
    await expect.poll(askForStream, { timeout: 15_000 }).toBe(200);

    // What happens meanwhile is there when a tab is seen again, in those that stay hidden, too.
    web.change(sampleSnapshot({ gate: gateItems().slice(2), check: checkItems() }));
    await setHidden(tabs[5]!, false);
    for (const tab of [tabs[5]!, tabs[0]!])
      await tab.locator(`[data-item="${uuidOf('fast-login')}"]`).waitFor({ state: 'detached' });
    expect(await tabs[5]!.locator('#banner').isVisible()).toBe(false);
    for (const tab of tabs.slice(1)) await tab.close();
  });

  test('closes its own stream while hidden in a browser without shared workers', async () => {
    await web.close();
    web = await startWeb(0, { maxClients: 1 });
    page = await newPage();
    await page.addInitScript('delete globalThis.SharedWorker');
    await page.goto(web.url);
    await page.locator('.live.is-on').waitFor();
    await setHidden(page, true);
    await expect.poll(askForStream, { timeout: 15_000 }).toBe(200);
    web.change(sampleSnapshot({ gate: gateItems().slice(1), check: checkItems() }));
    await setHidden(page, false);
    await card('retry-budget').waitFor({ state: 'detached' });
  });

  test('pages fit 390 pixels', async () => {
    page = await newPage();
    await page.setViewportSize({ width: 390, height: 844 });
    const subject = 'Supercalifragilisticexpialidocious_identifier_without_any_break_point_whatsoever';
    const [first, second, , ...rest] = gateItems();
    const long = {
      ...gateItems()[2]!,
      changes: [sampleChange('a-name-that-goes-on-and-on-and-on-and-on', 'acme/app', subject)] as const,
    };
    web.change(sampleSnapshot({ gate: [first!, second!, long, ...rest], check: checkItems() }));
    await page.goto(web.url);
    await page.locator('.live.is-on').waitFor();
    for (const path of NARROW) {
      await goWithin(page, path);
      await page.locator('.item, .span-row, .log-output, .slowest li, table.list').first().waitFor();
      expect(await page.evaluate('document.documentElement.scrollWidth'), path).toBeLessThanOrEqual(390);
    }
  });

  test('pages are accessible, in the light and in the dark colours', async () => {
    page = await newPage();
    await page.goto(`${web.url}/t/main/nonsense`);
    await page.getByText('There is no page at this address.').waitFor();
    await page.locator('.live.is-on').waitFor();
    for (const path of ACCESSIBLE) {
      await page.emulateMedia({ colorScheme: 'light' });
      await goWithin(page, path);
      await expect.poll(() => page.getByText('Loading …').count(), { timeout: 15_000 }).toBe(0);
      expect(await axeFindings(page, { preload: path === ACCESSIBLE[0] }), path).toEqual([]);
      await page.emulateMedia({ colorScheme: 'dark' });
      expect(await axeFindings(page, { runOnly: RULES_OF_COLOURS }), `${path} in the dark colours`).toEqual(
        [],
      );
    }
  });
});

/** One job, and projects that list it. */
function described(thing: DescribedThing): LayoutDescription {
  const { project } = gateItems()[1]!.changes[0];
  const place = { project, branch: 'master', path: '.zuul.yaml' };
  const job: JobVariantDescription = {
    name: 'unit-tests',
    parent: 'base',
    place,
    branches: [],
    files: [],
    irrelevantFiles: [],
    description: 'Tests of units',
    flags: {
      abstract: undefined,
      final: undefined,
      protected: undefined,
      intermediate: undefined,
      voting: false,
      postReview: undefined,
    },
    timeout: 600,
    attempts: undefined,
    overrideCheckout: undefined,
    dependencies: [],
    requiredProjects: [],
    semaphores: [],
    tags: [],
    provides: [],
    requires: [],
    preRun: [],
    run: [{ path: 'ci/test.sh', cleanup: false, semaphores: [], secrets: [] }],
    postRun: [],
    cleanupRun: [],
    roles: [],
    nodeset: undefined,
    vars: {},
    extraVars: {},
    hostVars: {},
    groupVars: {},
    includeVars: [],
    failureOutput: [],
    matchOnConfigUpdates: undefined,
    deduplicate: undefined,
    ansibleVersion: undefined,
    workspaceScheme: undefined,
    workspaceCheckout: undefined,
  };
  if (thing.kind === 'job') return { kind: 'job', variants: [job] };
  if (thing.kind === 'jobs') {
    const summary = { description: 'Tests of units', tags: [], variants: [] };
    return { kind: 'jobs', jobs: ['lint', 'unit-tests'].map(name => ({ name, ...summary })) };
  }
  const config = {
    place,
    isTemplate: false,
    templates: [],
    queue: 'integrated',
    mergeMode: undefined,
    defaultBranch: undefined,
    pipelines: [{ name: 'gate', jobs: [job] }],
  };
  return {
    kind: 'project',
    project: { queue: 'integrated', mergeMode: 'rebase', defaultBranch: 'master', configs: [config] },
  };
}

/** Shows another page without loading the document again. */
async function goWithin(page: Page, path: string): Promise<void> {
  await page.evaluate(`
    document.getElementById('main').firstElementChild.setAttribute('data-left', '');
    history.pushState(null, '', ${JSON.stringify(path)});
    dispatchEvent(new PopStateEvent('popstate'));
  `);
  await page.locator('[data-left]').waitFor({ state: 'detached' });
}

/** As a tab behind another one: headless browsers show all of them. */
function setHidden(page: Page, hidden: boolean): Promise<unknown> {
  return page.evaluate(`
    Object.defineProperty(document, 'hidden', { value: ${hidden}, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  `);
}

const NARROW = [
  '/',
  '/t/main/pipeline/gate',
  '/t/main/nodes',
  '/t/main/autoholds',
  `/t/main/item/${uuidOf('dark-mode')}`,
  `/t/main/build/${uuidOf('retry-budget', 'build', '1', 'integration', '2')}`,
];

const ACCESSIBLE = [
  '/t/main',
  '/t/main/pipeline/gate',
  '/t/main/components',
  '/t/main/queues',
  '/t/main/builds',
  '/t/main/jobs',
  '/t/main/job/unit-tests',
  '/t/main/projects',
  '/t/main/project/acme/app',
  '/t/main/nodes',
  '/t/main/labels',
  '/t/main/autoholds',
  '/t/main/semaphores',
  '/t/main/config-errors',
  `/t/main/item/${uuidOf('dark-mode')}`,
  `/t/main/build/${uuidOf('schema', 'build', '1', 'unit-tests', '1')}`,
];

/** What axe judges by colours, of the rules it has by default. */
const RULES_OF_COLOURS = ['color-contrast', 'link-in-text-block'];
