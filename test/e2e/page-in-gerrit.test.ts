/** The file that a Gerrit site adds, in a real browser: a page that does what Gerrit's plug-in host does, with our API behind it. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkedItems, gatedItem } from '../fake/gerrit-change-items.ts';
import { describeOnChromium } from '../setup/chromium.ts';
import { textOf } from '../unit/docs/repository-text.ts';
import { type FakeWeb, fakeWeb, sampleSnapshot } from '../unit/web/fake-web.ts';
import { launchBrowser } from './browser.ts';
import { problemsOfFetchResponse } from './gerrit-fetch-response.ts';

/** What Gerrit does with a plug-in: it runs the callback, keeps the provider, and asks it for a change. */
const HOST = `<!doctype html><title>Gerrit</title><script>
  const registered = [];
  window.Gerrit = {
    install: use => use({ checks: () => ({ register: (provider, config) => registered.push({ provider, config }) }) }),
  };
</script><script src="/plugins/gatehouse-checks.js"></script>`;

interface Asked {
  readonly changeNumber: number;
  readonly patchsetNumber: number;
  readonly repo: string;
}

describeOnChromium("Gerrit's Checks tab", executablePath => {
  const stack = new AsyncDisposableStack();
  let browser: Browser;
  let web: FakeWeb;
  beforeAll(async () => {
    browser = await launchBrowser(executablePath);
    stack.defer(() => browser.close());
    web = await fakeWeb({ snapshot: sampleSnapshot({ gate: [gatedItem()], check: [] }) });
    stack.defer(() => web.close());
    await web.history.record(checkedItems().map(item => ({ kind: 'item', item }) as const));
  });
  afterAll(() => stack.disposeAsync());

  /** Gerrit at another origin, with the settings that a site writes into the file. */
  async function askGerrit(settings: string, change: Asked) {
    const file = textOf('etc/gerrit/gatehouse-checks.js');
    const plugin = `${file.replace(/const SETTINGS = \{[\s\S]*?\n\};/, `const SETTINGS = ${settings};`)}`;
    expect(plugin).not.toBe(file);
    await using gerrit = await startPage({ '/': HOST, '/plugins/gatehouse-checks.js': plugin });
    const page = await browser.newPage();
    const problems: string[] = [];
    page.on('pageerror', error => problems.push(String(error)));
    await page.goto(gerrit.url);
    const seen = await page.evaluate(`(async () => {
      const dates = value => value instanceof Date ? { date: value.getTime() }
        : Array.isArray(value) ? value.map(dates)
        : typeof value === 'object' && value !== null
          ? Object.fromEntries(Object.entries(value).map(([name, each]) => [name, dates(each)]))
        : value;
      const [{ provider, config }] = registered;
      const response = await provider.fetch(${JSON.stringify({ patchsetSha: 'a'.repeat(40), changeInfo: {}, ...change })});
      return { count: registered.length, config, response: dates(response) };
    })()`);
    await page.close();
    expect(problems).toEqual([]);
    return seen as {
      readonly count: number;
      readonly config: object;
      readonly response: {
        readonly responseCode: string;
        readonly errorMessage?: string;
        readonly runs?: readonly { readonly checkName: string; readonly attempt: number }[];
      };
    };
  }

  const settings = (gatehouse: string, tenants: readonly string[] = ['main']) =>
    JSON.stringify({ gatehouse, tenants, connection: '', pollSeconds: 15 });
  const change = { changeNumber: 12, patchsetNumber: 3, repo: 'acme/app' };

  test('gets the runs of the patch set in the form that it takes', async () => {
    const { count, config, response } = await askGerrit(settings(web.url), change);
    expect(count).toBe(1);
    expect(config).toEqual({ fetchPollingIntervalSeconds: 15 });
    expect(response).toMatchObject({ responseCode: 'OK' });
    expect(response.runs?.map(({ checkName, attempt }) => `${checkName} ${attempt}`)).toContain(
      'check/unit-tests 2',
    );
    expect(response.runs).toHaveLength(9);
    expect(problemsOfFetchResponse(response)).toEqual([]);
  });

  test('has no runs for a change that was never in a pipeline', async () => {
    const { response } = await askGerrit(settings(web.url), { ...change, changeNumber: 99 });
    expect(response).toEqual({ responseCode: 'OK', runs: [] });
  });

  test('gets a sentence when Gatehouse refuses or does not answer', async () => {
    const refused = await askGerrit(settings(web.url, ['nowhere']), change);
    expect(problemsOfFetchResponse(refused.response)).toEqual([]);
    expect(refused.response).toMatchObject({
      responseCode: 'ERROR',
      errorMessage: 'Gatehouse answered 404: there is no tenant "nowhere"; known: main',
    });
    const away = await askGerrit(settings('http://127.0.0.1:1'), change);
    expect(problemsOfFetchResponse(away.response)).toEqual([]);
    expect(away.response.errorMessage).toMatch(/^Gatehouse did not answer: /);
  });
});

/** Serves texts by path. */
async function startPage(texts: Readonly<Record<string, string>>) {
  const server = createServer((request, response) => {
    const text = texts[request.url ?? ''];
    const type = request.url?.endsWith('.js') ? 'text/javascript' : 'text/html';
    response.writeHead(text === undefined ? 404 : 200, { 'Content-Type': type }).end(text ?? '');
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise<void>(resolve => server.close(() => resolve()));
    },
  };
}
