/** Operators act on the page: who is signed in and may act reads the cost first, and all visitors see what came of it. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { keyPair } from '../fake/ssh-host.ts';
import { layoutWith } from '../scenario/layouts.ts';
import { DEADLINE } from '../scenario/observer.ts';
import { openWorld } from '../scenario/open-world.ts';
import type { World } from '../scenario/world.ts';
import { describeOnChromium } from '../setup/chromium.ts';
import { axeFindings } from './accessibility.ts';
import { launchBrowser, STILL } from './browser.ts';
import { authSection, signIn, startProvider } from './sign-in-provider.ts';

const layout = layoutWith(`
- job: {name: unit}
- job: {name: lint}
- project: {name: org/project, gate: {jobs: [unit, lint]}}
`);

/** Between two looks of the pages of hosts and autoholds. */
const LOOK_MS = 10_000;

describeOnChromium('acts on the page', executablePath => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser(executablePath);
  });
  afterAll(() => browser.close());

  interface Stage {
    readonly world: World;
    readonly page: Page;
    readonly newPage: (dark?: boolean) => Promise<Page>;
  }

  async function withGate(play: (stage: Stage) => Promise<void>): Promise<void> {
    await using provider = await startProvider();
    const folder = await mkdtemp(path.join(tmpdir(), 'gatehouse-acts-'));
    const nodes = path.join(folder, 'nodes.yaml');
    await writeFile(path.join(folder, 'key'), keyPair().private, { mode: 0o600 });
    const host = `{name: big-1, address: 127.0.0.1, username: ci, host-key: ${keyPair().public}, labels: [big]}`;
    await writeFile(nodes, `private-key: ${folder}/key\nhosts:\n  - ${host}\n`);
    const world = await openWorld(
      {
        layout,
        tenantOptions: ['admin-rules: [ci]'],
        tenantStanzas: '- authorization-rule: {name: ci, conditions: [{groups: ci}]}\n',
        sections: [...authSection(provider.issuer), `[nodes]\nconfig = ${nodes}\n`],
      },
      { kind: 'embedded' },
    );
    const problems: string[] = [];
    const contexts: Awaited<ReturnType<Browser['newContext']>>[] = [];
    const newPage = async (dark = false) => {
      const context = await browser.newContext({
        ...STILL,
        colorScheme: dark ? 'dark' : 'light',
        viewport: dark ? { width: 390, height: 844 } : { width: 1366, height: 900 },
      });
      contexts.push(context);
      const page = await context.newPage();
      page.setDefaultTimeout(20_000);
      page.on('pageerror', error => problems.push(String(error)));
      return page;
    };
    try {
      provider.open(world.api.root);
      await play({ world, page: await newPage(), newPage });
      expect(problems).toEqual([]);
      for (const context of contexts) await context.close();
      await world.end();
    } finally {
      for (const context of contexts) await context.close();
      await world[Symbol.asyncDispose]();
      await rm(folder, { recursive: true });
    }
  }

  const board = (world: World) => `${world.api.root}/t/tenant-one`;
  const itemOf = (page: Page, topic: string) =>
    page.locator('.item', { has: page.getByText(`master/${topic}`) }).first();

  async function threeInTheGate(world: World): Promise<void> {
    for (const topic of ['A', 'B', 'C']) await world.propose(topic);
    for (const topic of ['A', 'B', 'C']) await world.approve(topic);
    await world.runs('unit: A', 'lint: A', 'unit: A B', 'lint: A B', 'unit: A B C', 'lint: A B C');
  }

  test('who has signed in promotes a change, after reading what that costs', { timeout: 4 * DEADLINE }, () =>
    withGate(async ({ world, page, newPage }) => {
      await threeInTheGate(world);
      await page.goto(board(world));
      await itemOf(page, 'C').waitFor();
      // A stranger has no buttons.
      expect(await page.locator('button.act').count()).toBe(0);
      await signIn(page, 'alice');
      const promote = itemOf(page, 'C').getByRole('button', { name: /^Promote/ });
      await promote.waitFor();
      // By keyboard alone: Escape goes back, and nothing has happened.
      await promote.focus();
      await page.keyboard.press('Enter');
      const dialog = page.getByRole('dialog');
      await dialog.getByText('resets 3 items').waitFor();
      expect(await axeFindings(page)).toEqual([]);
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      expect(world.queued()).toEqual(['A', 'B', 'C']);
      await promote.focus();
      await page.keyboard.press('Enter');
      await dialog.getByText('resets 3 items').waitFor();
      await page.keyboard.press('Enter');
      await dialog.getByText('It goes to the head of its queue shortly.').waitFor();
      await page.keyboard.press('Enter');
      await dialog.waitFor({ state: 'detached' });
      await world.runs('unit: C', 'lint: C', 'unit: C A', 'lint: C A', 'unit: C A B', 'lint: C A B');
      expect((await world.decided('C', 'promoted')).text).toMatch(/promoted by alice \(company\)$/);
      // On a phone in the dark, too.
      const phone = await newPage(true);
      await phone.goto(board(world));
      await signIn(phone, 'alice');
      await itemOf(phone, 'B')
        .getByRole('button', { name: /^Dequeue/ })
        .click();
      await phone.getByRole('dialog').getByText('takes out 1 item').waitFor();
      expect(await phone.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
      expect(await axeFindings(phone)).toEqual([]);
      await phone.getByRole('button', { name: 'Dequeue', exact: true }).click();
      await world.leaves('B', 'DEQUEUED');
      world.free();
      for (const topic of ['A', 'C']) await world.leaves(topic, 'SUCCESS');
    }),
  );

  test('failed jobs run again from the page of their item', { timeout: 4 * DEADLINE }, () =>
    withGate(async ({ world, page }) => {
      world.fail('unit', 'B');
      await threeInTheGate(world);
      world.release(/: A B$/);
      await world.observer.until('B waits for A', () => world.item('B')?.state.name === 'change-ahead');
      world.pass('unit', 'B');
      await page.goto(`${board(world)}/item/${world.item('B')?.uuid}`);
      await signIn(page, 'alice');
      await page.getByRole('button', { name: /^Run failed jobs again/ }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText(/runs unit again,? (and )?resets 1 item/).waitFor();
      await dialog.getByRole('button', { name: 'Run failed jobs again' }).click();
      await dialog.getByText('Its failed jobs run again shortly.').waitFor();
      world.free();
      await world.decided('B', 'rerun', 'alice (company) asked to run its failed jobs again: unit');
      for (const topic of ['A', 'B', 'C']) await world.leaves(topic, 'SUCCESS');
    }),
  );

  test(
    'a pause has a reason that another visitor reads, and who may not act has no buttons',
    { timeout: 4 * DEADLINE },
    () =>
      withGate(async ({ world, page, newPage }) => {
        const visitor = await newPage();
        await visitor.goto(board(world));
        await signIn(visitor, 'bob');
        await page.goto(board(world));
        await signIn(page, 'alice');
        await page.getByRole('button', { name: 'Pause pipeline gate' }).click();
        const dialog = page.getByRole('dialog');
        await dialog.getByLabel('Reason, for all to read').fill('the cluster moves');
        await dialog.getByRole('button', { name: 'Next' }).click();
        await dialog.getByText('This resets nothing.').waitFor();
        await dialog.getByRole('button', { name: 'Pause' }).click();
        await dialog.getByText('It starts no jobs from now on.').waitFor();
        await dialog.getByRole('button', { name: 'Close' }).click();
        await visitor.getByText('is paused, by alice (company): the cluster moves').waitFor();
        expect(await visitor.locator('button.act').count()).toBe(0);
        // A refusal is shown in the words of the service.
        await page.getByRole('button', { name: 'Enqueue a change into gate' }).click();
        await dialog.getByLabel('Project').fill('org/nothing');
        await dialog.getByLabel('Change, or ref').fill('master/A');
        await dialog.getByRole('button', { name: 'Next' }).click();
        await dialog
          .getByRole('alert')
          .getByText(/no project "org\/nothing"/)
          .waitFor();
        await dialog.getByRole('button', { name: 'Back' }).click();
        await world.propose('A');
        await dialog.getByLabel('Project').fill('org/project');
        await dialog.getByRole('button', { name: 'Next' }).click();
        await dialog.getByRole('button', { name: 'Enqueue' }).click();
        await dialog.getByText('It enters shortly, if it may.').waitFor();
        await dialog.getByRole('button', { name: 'Close' }).click();
        await itemOf(visitor, 'A').getByText('paused').first().waitFor();
        await page.getByRole('button', { name: 'Resume pipeline gate' }).click();
        await dialog.getByText('lets jobs of 1 item start').waitFor();
        await dialog.getByRole('button', { name: 'Resume' }).click();
        await dialog.getByRole('button', { name: 'Close' }).click();
        await world.runs('unit: A', 'lint: A');
        world.free();
        await world.leaves('A', 'SUCCESS');
        // Autoholds, and a host for all tenants: asked for, seen by the visitor, and ended.
        // Who acts sees what came of it without the next look by time.
        await page.addInitScript(`
          const { setInterval } = globalThis;
          globalThis.setInterval = (act, ms) => ms === ${LOOK_MS} ? 0 : setInterval(act, ms);
        `);
        await page.goto(`${board(world)}/autoholds`);
        await page.getByRole('button', { name: 'Request an autohold' }).click();
        await dialog.getByLabel('Project').fill('org/project');
        await dialog.getByLabel('Job').fill('unit');
        await dialog.getByLabel('Reason, for all to read').fill('why does it fail?');
        await dialog.getByLabel('Each').selectOption('for an hour');
        await dialog.getByRole('button', { name: 'Next' }).click();
        await dialog.getByText('are kept as they are').waitFor();
        expect(await axeFindings(page)).toEqual([]);
        await dialog.getByRole('button', { name: 'Request' }).click();
        await dialog.getByText('Its hosts, or its workspace, are held when it fails.').waitFor();
        await dialog.getByRole('button', { name: 'Close' }).click();
        const row = 'tbody tr';
        await page.locator(row, { hasText: 'why does it fail?' }).waitFor();
        await visitor.goto(`${board(world)}/autoholds`);
        await visitor.locator(row, { hasText: 'for 1h 00m each' }).waitFor();
        expect(await visitor.locator('button.act').count()).toBe(0);
        await page.getByRole('button', { name: 'Delete the autohold of unit' }).click();
        await dialog.getByRole('button', { name: 'Delete' }).click();
        await dialog.getByText('It is gone').waitFor();
        await dialog.getByRole('button', { name: 'Close' }).click();
        await page.getByRole('heading', { name: 'No autoholds' }).waitFor();
        await page.goto(`${board(world)}/nodes`);
        await page.getByRole('button', { name: 'Hold node big-1' }).click();
        await dialog.getByLabel('Reason, for all to read').fill('new disks');
        await dialog.getByRole('button', { name: 'Next' }).click();
        await dialog.getByRole('button', { name: 'Hold' }).click();
        await dialog.getByRole('button', { name: 'Close' }).click();
        await visitor.goto(`${board(world)}/nodes`);
        await visitor.locator(row, { hasText: 'new disks' }).waitFor();
        expect(await visitor.locator('button.act').count()).toBe(0);
        await page.getByRole('button', { name: 'Release node big-1' }).click();
        await dialog.getByText('It serves again, for builds of all tenants.').waitFor();
        await dialog.getByRole('button', { name: 'Release' }).click();
        await dialog.getByRole('button', { name: 'Close' }).click();
        await page.getByRole('button', { name: 'Hold node big-1' }).waitFor();
      }),
  );
});
