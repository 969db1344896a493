/** Desktop notifications in a real browser: asked for by a click alone, about what is one's own or watched. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { QueueItem } from '../../src/model/queue-item.ts';
import { describeOnChromium } from '../setup/chromium.ts';
import { type FakeWeb, fakeWeb, sampleSnapshot } from '../unit/web/fake-web.ts';
import { finishedItems, RESET } from '../unit/web/sample-gate.ts';
import { sampleChange, sampleItem } from '../unit/web/sample-item.ts';
import { axeFindings } from './accessibility.ts';
import { launchBrowser, STILL } from './browser.ts';

/** What the page asked of the browser, in place of a desktop. */
const RECORDED = `
  window.asked = 0;
  window.shown = [];
  window.Notification = class extends EventTarget {
    static permission = sessionStorage.getItem('permission') ?? 'default';
    static async requestPermission() {
      if (this.permission === 'default') window.asked += 1;
      sessionStorage.setItem('permission', 'granted');
      return (this.permission = 'granted');
    }
    constructor(title, options) {
      super();
      window.shown.push([title, options.body]);
    }
    close() {}
  };
`;

/** Which of these begin above the end of the name. */
const LINES = `
  ['brand', 'notices', 'live'].filter(name => {
    const place = document.querySelector('#' + name) ?? document.querySelector('.' + name);
    return place.getBoundingClientRect().top < document.querySelector('#brand').getBoundingClientRect().bottom;
  })
`;

const [finished] = finishedItems();
/** As it was before it left; the history has it. */
const leaving: QueueItem = { ...finished!, phase: { phase: 'queued' } };

/** @param resets how often it was tested again. */
function queued(resets: number): QueueItem {
  const buildsets = Array.from({ length: resets + 1 }, (_, index) => ({
    at: index * 10,
    ...(index < resets ? { supersededBy: RESET } : {}),
    ...(index > 0 ? { cause: RESET } : {}),
  }));
  const change = { ...sampleChange('mine', 'acme/app', 'My change'), owner: 'ada' };
  return sampleItem('mine', { change, at: 0, buildsets, timeline: [['running', 2]] });
}

const snapshotOf = (...gate: readonly QueueItem[]) => sampleSnapshot({ gate, check: [] });

describeOnChromium('notices', executablePath => {
  let browser: Browser;
  let web: FakeWeb;

  beforeAll(async () => {
    browser = await launchBrowser(executablePath);
    web = await fakeWeb({ snapshot: snapshotOf(queued(0)), limits: { closeTimeout: 200 } });
  });
  afterAll(async () => {
    await browser.close();
    await web.close();
  });

  async function newPage(dark: boolean): Promise<Page> {
    const context = await browser.newContext({
      ...STILL,
      colorScheme: dark ? 'dark' : 'light',
      viewport: dark ? { width: 390, height: 844 } : { width: 1366, height: 900 },
    });
    await context.addInitScript(RECORDED);
    const page = await context.newPage();
    page.setDefaultTimeout(15_000);
    return page;
  }

  test.each([
    ['on a desktop', false],
    ['on a phone in the dark', true],
  ])('what is watched is noticed once for each thing that happens to it, %s', async (_, dark) => {
    web.change(snapshotOf(queued(0), leaving));
    const page = await newPage(dark);
    await page.goto(`${web.url}/t/main`);
    await page.getByRole('button', { name: 'Notify me', exact: true }).waitFor();
    await page.locator('.live.is-on').waitFor();
    // What is counted may have a line of its own.
    expect(await page.evaluate(LINES)).toEqual(['brand', 'notices', 'live']);
    for (const uuid of [queued(0).uuid, leaving.uuid]) {
      await page.goto(`${web.url}/t/main/item/${uuid}`);
      await page.getByRole('button', { name: 'Watch', exact: true }).waitFor();
      expect(await page.evaluate('asked')).toBe(0);
      await page.getByRole('button', { name: 'Watch', exact: true }).click();
      await page.getByRole('button', { name: 'Watching' }).waitFor();
    }
    await page.getByRole('button', { name: 'Notices on' }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(
      dark ? 390 : 1366,
    );
    for (const resets of [1, 2, 3]) web.change(snapshotOf(queued(resets), leaving));
    await expect.poll(() => page.evaluate('shown.length'), { timeout: 15_000 }).toBe(1);
    web.change(snapshotOf(queued(3)));
    await expect.poll(() => page.evaluate('shown.length'), { timeout: 15_000 }).toBe(2);
    expect(await page.evaluate('shown.map(([title]) => title)')).toEqual([
      expect.stringMatching(/^Tested again for the second time in gate: acme\/app master\/mine,/),
      expect.stringMatching(/^(Passed|Failed in) gate: acme\/app /),
    ]);
    await page.context().close();
  });
});
