/** Data that builds return and get: real processes. */
import { describe, expect, test } from 'vitest';
import { describeOnBubblewrap } from '../../setup/bubblewrap.ts';
import { dataSeal } from './data-seal.ts';
import { buildRequest, openBench, script } from './fixture.ts';

const RETURNS = script(`set -eu
gatehouse return '{"zuul": {"artifacts": [{"name": "image", "url": "image.tar"}]}}'
printf '{\\n  "zuul": {"log_url": "https://logs.example.org/7"},\\n  "version": "1.2"\\n}\\n' | gatehouse return
echo '{"password": "hunter2-hunter2"}' | gatehouse return --secret -
if gatehouse return 'no object'; then exit 1; fi`);

async function play(sandbox: 'bubblewrap' | 'none'): Promise<void> {
  await using bench = await openBench({ sandbox }, { dataSeal });
  const commit = await bench.commit({
    'ci/return.sh': RETURNS,
    'ci/leak.sh': script('echo "it is hunter2-hunter2"'),
  });
  const request = buildRequest(commit, { run: ['ci/return.sh'], postRun: ['ci/leak.sh'] });
  const { result, log } = await bench.submit(request).ended;
  expect(result.result, log).toBe('SUCCESS');
  const { sealed = '', ...returned } = result.returned ?? {};
  expect(returned).toEqual({
    logUrl: 'https://logs.example.org/7',
    artifacts: [{ name: 'image', url: 'https://logs.example.org/7/image.tar' }],
    data: { version: '1.2' },
  });
  expect(dataSeal.openData(request.uuid, sealed)).toBe('{"password":"hunter2-hunter2"}');
  expect(log).toContain('it is ***');
  expect(JSON.stringify(result) + log).not.toContain('hunter2');
}

describe('a script that returns data', () => {
  test('hands it in with its result, the secret part sealed and masked from then on', () => play('none'));

  test('that is no JSON has a warning in its log and with its result, and passes', async () => {
    await using bench = await openBench({}, { dataSeal });
    const commit = await bench.commit({ 'ci/run.sh': script('echo "{oops" >"$GATEHOUSE_RETURN"') });
    const { result, log } = await bench.submit(buildRequest(commit, { run: ['ci/run.sh'] })).ended;
    expect(result.result).toBe('SUCCESS');
    expect(result.returned).toEqual({
      warnings: ['line 1 of what was returned is not JSON; it is ignored'],
    });
    expect(log).toContain('WARNING: line 1 of what was returned is not JSON; it is ignored');
  });

  test.each([
    ['a FIFO', 'mkfifo "$GATEHOUSE_RETURN"', undefined],
    ['a link', 'ln -s /etc/passwd "$GATEHOUSE_RETURN"', undefined],
    [
      'half a megabyte',
      'head -c 500000 /dev/zero >"$GATEHOUSE_RETURN"',
      { warnings: ['what was returned could not be read: it is longer than 256 KiB'] },
    ],
  ])('and leaves %s instead does not disturb the executor', async (_, command, returned) => {
    await using bench = await openBench({}, { dataSeal });
    const commit = await bench.commit({ 'ci/run.sh': script(command) });
    const { result } = await bench.submit(buildRequest(commit, { run: ['ci/run.sh'] })).ended;
    expect(result.result).toBe('SUCCESS');
    expect(result.returned).toEqual(returned);
  });

  test('keeps no secret data without a key, and says so', async () => {
    await using bench = await openBench();
    const commit = await bench.commit({
      'ci/run.sh': script(`gatehouse return --secret '{"password": "hunter2"}'`),
    });
    const { result } = await bench.submit(buildRequest(commit, { run: ['ci/run.sh'] })).ended;
    expect(result.returned).toEqual({
      warnings: ['the returned secret data is not kept: this executor has no [keystore] password'],
    });
  });
});

describe('a build whose parents returned data', () => {
  test('has it below its own variables, and the secret part as secrets, the first parent first', async () => {
    await using bench = await openBench({}, { dataSeal });
    const commit = await bench.commit({
      'ci/run.sh': script(`set -eu
node -e 'const v = JSON.parse(require("fs").readFileSync(process.env.GATEHOUSE_VARIABLES)).vars; console.log("vars", JSON.stringify(v))'
sha256sum <"$ZUUL_SECRETS_FILE"
node -e 'const s = JSON.parse(require("fs").readFileSync(process.env.ZUUL_SECRETS_FILE)); console.log("names", Object.keys(s).sort().join(), s.both.length)'
cat "$ZUUL_SECRETS_FILE"`),
    });
    const base = buildRequest(commit, { run: ['ci/run.sh'] }, { jobFacts: { vars: { who: 'job' } } });
    const [one, two] = [base.uuid, base.item];
    const request = {
      ...base,
      parentData: { who: 'parent', version: { major: 1 } },
      sealedData: [
        { build: one, sealed: dataSeal.sealData(one, '{"both": "first-value", "who": "hidden-by-job"}') },
        { build: two, sealed: dataSeal.sealData(two, '{"both": "second-value-2", "more": "third-value"}') },
      ],
    };
    const { result, log } = await bench.submit(request).ended;
    expect(result.result, log).toBe('SUCCESS');
    expect(log).toContain('vars {"who":"job","version":{"major":1}}');
    expect(log).toContain(`names both,more ${'first-value'.length}`);
    expect(log).not.toMatch(/first-value|third-value/);
  });

  test('is tried again elsewhere where its secret data cannot be opened', async () => {
    await using bench = await openBench({}, { dataSeal, secretKeys: { opener: async () => undefined } });
    const commit = await bench.commit({ 'ci/run.sh': script('true') });
    const request = buildRequest(commit, { run: ['ci/run.sh'] });
    const other = dataSeal.sealData(request.item, '{}');
    const { result } = await bench.submit({
      ...request,
      sealedData: [{ build: request.uuid, sealed: other }],
    }).ended;
    expect(result.result).toBe('RETRY');
    expect(result.detail).toContain('cannot be opened here');
  });
});

describeOnBubblewrap('a script that returns data from the sandbox', () => {
  test('hands it in with its result', () => play('bubblewrap'));
});
