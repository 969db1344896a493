/** `gatehouse log` against the real web. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runProgram } from '../../../src/cmd/commands/program.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { type FakeWeb, fakeWeb } from '../web/fake-web.ts';
import { uuidOf } from '../web/sample-item.ts';

const BUILD = uuidOf('retry-budget', 'build', '1', 'integration', '2');
const WITHOUT_LOG = uuidOf('retry-budget', 'build', '1', 'integration', '1');
const STAMP = '2026-11-20 17:53:01.123456';
const LOG = `${STAMP} # RUN START: x\n${STAMP} | \x1b]52;c;ZXZpbA==\x07hello\n`;

let web: FakeWeb;
// One for each test: a web keeps what it has read of a log that is complete.
beforeEach(async () => {
  web = await fakeWeb();
});
afterEach(() => web.close());

interface Ran {
  readonly status: number;
  readonly out: string;
  readonly error: string;
}

/** @param onOutput sees all that was printed so far. */
async function run(args: readonly string[], onOutput: (out: string) => void = () => undefined): Promise<Ran> {
  let [out, error] = ['', ''];
  const status = await runProgram(['log', ...args, '--url', web.url], {
    stdout: {
      write: text => {
        out += text;
        onOutput(out);
      },
    },
    stderr: {
      write: text => {
        error += text;
      },
    },
    environment: {},
    clock: systemClock(),
    interrupted: () => new AbortController().signal,
  });
  return { status, out, error };
}

describe('gatehouse log', () => {
  test('shows what is there of a running build, without what a terminal would obey', async () => {
    web.logs.set(BUILD, { text: LOG, complete: false });
    expect(await run([BUILD])).toEqual({
      status: 0,
      out: `${STAMP} # RUN START: x\n${STAMP} | hello\n`,
      error: '',
    });
  });

  test('takes the address of a page, and gives the text as it is when asked', async () => {
    web.logs.set(BUILD, { text: LOG, complete: true });
    expect((await run([`${web.url}/t/main/build/${BUILD}`, '--raw'])).out).toBe(LOG);
  });

  test('says for programs who wrote each line', async () => {
    web.logs.set(BUILD, { text: LOG, complete: true });
    const lines = (await run([BUILD, '--json'])).out.trimEnd().split('\n');
    expect(lines.map(line => JSON.parse(line))).toEqual([
      { time: STAMP, writer: 'executor', text: 'RUN START: x' },
      { time: STAMP, writer: 'job', text: '\x1b]52;c;ZXZpbA==\x07hello' },
    ]);
  });

  test('follows a log until it is complete', async () => {
    web.logs.set(BUILD, { text: LOG, complete: false });
    const { status, out } = await run([BUILD, '--follow'], said => {
      if (said.endsWith('hello\n'))
        web.logs.set(BUILD, { text: `${LOG}${STAMP} # RESULT: SUCCESS\n`, complete: true });
    });
    expect(status).toBe(0);
    expect(out).toBe(`${STAMP} # RUN START: x\n${STAMP} | hello\n${STAMP} # RESULT: SUCCESS\n`);
  });

  test('says when there is none, and what is no build', async () => {
    expect(await run([WITHOUT_LOG])).toMatchObject({
      status: 1,
      error: expect.stringContaining(' has no log'),
    });
    expect(await run(['f'.repeat(32)])).toMatchObject({
      status: 1,
      error: expect.stringMatching(/^error: /),
    });
    expect(await run(['acme/app'])).toMatchObject({
      status: 1,
      error: 'error: "acme/app" is not the uuid of a build or the URL of its page\n',
    });
  });
});
