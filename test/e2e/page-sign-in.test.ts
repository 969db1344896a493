/** Signing in on the page, at a real OpenID provider and in a real browser, and what becomes of a private tenant's page then. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { layoutWith } from '../scenario/layouts.ts';
import { DEADLINE } from '../scenario/observer.ts';
import { openWorld } from '../scenario/open-world.ts';
import type { World } from '../scenario/world.ts';
import { describeOnChromium } from '../setup/chromium.ts';
import { launchBrowser, STILL } from './browser.ts';
import { authSection, signIn, startProvider } from './sign-in-provider.ts';

const layout = layoutWith('\n- job: {name: unit}\n- project: {name: org/project, check: {jobs: [unit]}}\n', {
  check: true,
});

describeOnChromium('the page of a private tenant', executablePath => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser(executablePath);
  });
  afterAll(() => browser.close());

  async function withWorld(
    more: readonly string[],
    play: (parts: {
      readonly world: World;
      readonly provider: Awaited<ReturnType<typeof startProvider>>;
      readonly page: Page;
      readonly asked: string[];
    }) => Promise<void>,
  ): Promise<void> {
    await using provider = await startProvider();
    const world = await openWorld(
      {
        layout,
        moreTenants: ['hidden'],
        moreTenantOptions: ['access-rules: [ci]'],
        tenantStanzas: '- authorization-rule: {name: ci, conditions: [{groups: ci}]}\n',
        sections: authSection(provider.issuer, more),
      },
      { kind: 'embedded' },
    );
    const problems: string[] = [];
    const asked: string[] = [];
    const context = await browser.newContext(STILL);
    try {
      const page = await context.newPage();
      page.setDefaultTimeout(20_000);
      page.on('pageerror', error => problems.push(String(error)));
      page.on('console', message => {
        if (
          /Content Security Policy/.test(message.text()) &&
          message.location().url.startsWith(world.api.root)
        )
          problems.push(message.text());
      });
      page.on('request', request => asked.push(request.url()));
      await play({ world, provider, page, asked });
      expect(problems).toEqual([]);
      await context.close();
      await world.end();
    } finally {
      await context.close();
      await world[Symbol.asyncDispose]();
    }
  }

  const tokenOf = (page: Page) =>
    page.evaluate(() => sessionStorage.getItem('gatehouse-session')) as Promise<string | null>;

  test('it is live after signing in, and shows nothing after signing out', { timeout: 4 * DEADLINE }, () =>
    withWorld([], async ({ world, provider, page, asked }) => {
      const { root } = world.api;
      provider.open(root);
      await page.goto(`${root}/t/hidden`);
      await page.getByText('Reading tenant hidden takes signing in').waitFor();
      await signIn(page, 'alice');
      await page.waitForURL(`${root}/t/hidden`);
      await page.getByRole('button', { name: 'Sign out' }).waitFor();
      await page.locator('.live.is-on').waitFor();
      // A private tenant is among those to choose from, and what happens arrives.
      expect(await page.locator('#tenant option').allInnerTexts()).toEqual(['tenant-one', 'hidden']);
      await world.propose('A');
      await page.getByText('master/A').first().waitFor();
      await page.locator('.item a').first().click();
      await page.getByRole('heading', { name: /Where the time went/ }).waitFor();
      const { token } = JSON.parse((await tokenOf(page)) ?? '{}');
      expect(token.split('.')).toHaveLength(3);
      expect(asked.filter(address => address.includes(token))).toEqual([]);
      await page.reload();
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByRole('button', { name: 'Sign in' }).waitFor();
      expect(await tokenOf(page)).toBeNull();
      await page.goto(`${root}/t/hidden`);
      await page.getByText('Reading tenant hidden takes signing in').waitFor();
      world.free();
      await world.leaves('A', 'SUCCESS', 'check');
    }),
  );

  test(
    'whom its rules do not fit is refused, and a sign-in ends with its token',
    { timeout: 4 * DEADLINE },
    () =>
      withWorld([], async ({ world, provider, page }) => {
        const { root } = world.api;
        provider.open(root, 8);
        await page.goto(`${root}/t/hidden`);
        await signIn(page, 'bob');
        await page.getByText('You may not read tenant hidden').waitFor();
        await page.getByText('Your sign-in has expired.').waitFor();
        await page.getByRole('button', { name: 'Sign in' }).waitFor();
        expect(await tokenOf(page)).toBeNull();
      }),
  );

  test('a token for another audience is not kept', { timeout: 4 * DEADLINE }, () =>
    withWorld(['audience = another'], async ({ world, provider, page }) => {
      const { root } = world.api;
      provider.open(root);
      await page.goto(`${root}/t/hidden`);
      await signIn(page, 'alice');
      await page.getByText(/Not signed in: this service does not accept the token: .*aud/).waitFor();
      expect(await tokenOf(page)).toBeNull();
      // An answer that this tab did not ask for counts for nothing.
      await page.goto(`${root}/auth_callback?code=stolen&state=guessed`);
      await page.getByText('this browser tab did not begin to sign in').waitFor();
    }),
  );
});
