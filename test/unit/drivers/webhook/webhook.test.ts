/** Reports as requests, to receivers on loopback. */
import { createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openWebhook } from '../../../../drivers/webhook/index.ts';
import { readWebhookOptions } from '../../../../drivers/webhook/options.ts';
import { parseWebhookReporter } from '../../../../drivers/webhook/reporter-config.ts';
import type { ReportRequest } from '../../../../src/driver/reporter.ts';
import { parseNanoseconds } from '../../../../src/lib/clock.ts';
import { optionReader } from '../../../../src/lib/option-reader.ts';
import { Secret } from '../../../../src/lib/secret.ts';
import type { Json } from '../../../../src/model/job.ts';
import { proposedChange } from '../../../fake/queue-item.ts';
import { sampleReport } from '../../../fake/report.ts';

const { signal } = new AbortController();
const clock = { now: () => parseNanoseconds('1795000000500000000') };

function read(given: { readonly [option: string]: string }) {
  const at = { file: 'gatehouse.conf', line: 1 };
  const options = new Map(Object.entries(given).map(([name, value]) => [name, { value, at }]));
  const reader = optionReader({ name: 'connection chat', at, options, directory: '/etc/gatehouse' });
  const parsed = readWebhookOptions(reader);
  return { parsed, problems: reader.finish().map(({ option, reason }) => `${option}: ${reason}`) };
}

interface Taken {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** @param answer undefined: 200. */
async function openReceiver(answer?: (response: ServerResponse, taken: readonly Taken[]) => void) {
  const taken: Taken[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    taken.push({ headers: request.headers, body: Buffer.concat(chunks).toString() });
    if (answer === undefined) response.end('ok');
    else answer(response, taken);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const close = () =>
    new Promise<void>(resolve => {
      server.closeAllConnections();
      server.close(() => resolve());
    });
  onTestFinished(close);
  return { taken, close, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks/s3cr3t` };
}

function reporterTo(
  url: string,
  parts: { readonly format?: 'json' | 'slack'; readonly secret?: Secret; readonly timeoutMs?: number } = {},
) {
  const { format = 'json', secret, timeoutMs = 5_000 } = parts;
  const opened = openWebhook('chat', { url: new Secret(url), format, secret }, clock, timeoutMs);
  onTestFinished(() => opened.close());
  return opened.reporter;
}

const change = { ...proposedChange('A'), branch: 'main', owner: 'alice', url: 'http://host/A' };
const failed = {
  action: 'failure' as const,
  result: 'FAILURE',
  headline: 'Build failed (gate).',
  jobs: [
    ...(['lint', 'unit'] as const).map(name => ({
      ...{ name, voting: name === 'unit', url: `http://gate/b/${name}`, result: 'FAILURE' as const },
      ...{ startedAt: parseNanoseconds('1000000000'), endedAt: parseNanoseconds('5200000000') },
      detail: 'exit status 2',
    })),
  ],
};

function request(config: Json, parts: Parameters<typeof sampleReport>[0] = {}): ReportRequest {
  return { config, change, report: sampleReport({ changes: [change], ...parts }) };
}

test('a program gets the whole report, signed over its body, with one id for each message', async () => {
  const receiver = await openReceiver();
  const reporter = reporterTo(receiver.url, { secret: new Secret('key') });
  expect(await reporter.report(request({}, failed), signal)).toEqual({ kind: 'done' });
  expect(await reporter.report(request({}, failed), signal)).toEqual({ kind: 'done' });
  const [{ headers, body } = { headers: {}, body: '' }, again] = receiver.taken;
  expect(headers['x-gatehouse-signature-256']).toBe(
    `sha256=${createHmac('sha256', 'key').update(body).digest('hex')}`,
  );
  expect(headers['x-gatehouse-event']).toBe('failure');
  expect(again?.headers['x-gatehouse-delivery']).toBe(headers['x-gatehouse-delivery']);
  const { id, subject, commit, patchset, ref } = change;
  expect(JSON.parse(body)).toEqual({
    id: headers['x-gatehouse-delivery'],
    sent_at: 1_795_000_000_500,
    notice: null,
    ...{ action: 'failure', result: 'FAILURE', tenant: 'acme', pipeline: 'gate', queue: null },
    line: expect.stringMatching(/ · Build failed \(gate\): unit FAILURE, exit status 2$/),
    ...{ item: '4f0c0000000000000000000000000001', url: 'http://gate.example.org/t/acme/item/4f0c' },
    trace_url: null,
    changes: [
      {
        ...{ project: 'acme/app', branch: 'main', ref, url: 'http://host/A', change: id, patchset, commit },
        ...{ subject, owner: 'alice' },
      },
    ],
    jobs: [
      {
        ...{ name: 'lint', result: 'FAILURE', voting: false, url: 'http://gate/b/lint' },
        ...{ duration_ms: 4200, detail: 'exit status 2' },
      },
      {
        ...{ name: 'unit', result: 'FAILURE', voting: true, url: 'http://gate/b/unit' },
        ...{ duration_ms: 4200, detail: 'exit status 2' },
      },
    ],
    text: expect.stringContaining('Build succeeded (gate).'),
  });
});

test('a notice names its event, and one of another event or cause is another message', async () => {
  const receiver = await openReceiver();
  const reporter = reporterTo(receiver.url);
  const stuck = { action: 'start' as const, headline: 'Holds up gate: it waits for an executor.' };
  for (const cause of ['executor', 'nodes'])
    await reporter.report(request({}, { ...stuck, notice: { event: 'head-stuck', cause } }), signal);
  const [first, second] = receiver.taken;
  expect(first?.headers['x-gatehouse-event']).toBe('head-stuck');
  expect(JSON.parse(first?.body ?? '{}')).toMatchObject({
    notice: 'head-stuck',
    line: expect.stringMatching(/ · Holds up gate: it waits for an executor\.$/),
  });
  expect(second?.headers['x-gatehouse-delivery']).not.toBe(first?.headers['x-gatehouse-delivery']);
});

test('a chat gets one line with a link, where the reporter says, and what authors write mentions no people', async () => {
  const receiver = await openReceiver();
  const reporter = reporterTo(receiver.url, { format: 'slack' });
  const hostile = {
    ...change,
    subject: '<!channel> @here [win](http://evil) <http://e|ok> www.evil.org a_b',
  };
  const report = sampleReport({ ...failed, changes: [hostile] });
  const config = { channel: 'builds', mention: '@here' };
  expect(await reporter.report({ config, change: hostile, report }, signal)).toEqual({ kind: 'done' });
  const { text, channel, ...rest } = JSON.parse(receiver.taken[0]?.body ?? '{}');
  expect(channel).toBe('builds');
  expect(text).toMatch(
    /^@here acme\/app .* · Build failed \(gate\): unit FAILURE, exit status 2 <http:\/\/gate\.example\.org\/t\/acme\/item\/4f0c\|details>$/,
  );
  const said = text.slice('@here '.length, text.lastIndexOf('<'));
  expect(said).not.toMatch(/<|@here|\[win\]|>|http:\/\/|www\.e/);
  expect(said).toContain('a_b');
  expect(rest).toEqual({ unfurl_links: false, unfurl_media: false });
  expect(receiver.taken[0]?.headers['x-gatehouse-signature-256']).toBeUndefined();
});

describe('the line says why', () => {
  const lineOf = async (parts: Parameters<typeof request>[1]) => {
    const receiver = await openReceiver();
    await reporterTo(receiver.url).report(request({}, parts), signal);
    return String(JSON.parse(receiver.taken[0]?.body ?? '{}').line).split(' · ')[1];
  };

  test('for a conflict with the change and the files', async () => {
    const reason = {
      ...{ kind: 'conflict' as const, project: change.project, with: change.key },
      files: ['a', 'b', 'c', 'd'],
    };
    expect(await lineOf({ action: 'merge-conflict', headline: 'Merge failed.', reason })).toMatch(
      /^Merge failed: conflict with acme\/app \S+ in a, b, c and 1 more$/,
    );
  });

  test('for a refusal with its reason, and for a success without', async () => {
    const reason = { kind: 'refused' as const, text: 'not approved\nby a maintainer' };
    expect(await lineOf({ action: 'dequeue', headline: 'Dequeued.', reason })).toBe(
      'Dequeued: not approved; by a maintainer',
    );
    expect(await lineOf({ jobs: failed.jobs })).toBe('Build succeeded (gate).');
  });
});

describe('a receiver', () => {
  test.each([
    [429, { kind: 'later', reason: 'limited' }],
    [503, { kind: 'later', reason: 'unreachable' }],
    [403, { kind: 'later', reason: 'denied' }],
    [404, { kind: 'later', reason: 'bad-url' }],
    [302, { kind: 'later', reason: 'bad-url' }],
    [400, { kind: 'failed', text: '127.0.0.1 answered 400: invalid_payload' }],
  ])('that answers %i gets the message again, unless the message is to blame', async (status, outcome) => {
    const receiver = await openReceiver(response => {
      response.writeHead(status, { location: 'http://127.0.0.1:1/' }).end('invalid_payload');
    });
    const answer = await reporterTo(receiver.url).report(request({}), signal);
    expect(answer).toMatchObject(outcome);
    expect(JSON.stringify(answer)).not.toContain('s3cr3t');
    expect(receiver.taken).toHaveLength(1);
  });

  test('says when it may be asked again, up to an hour', async () => {
    const receiver = await openReceiver((response, { length }) => {
      response.writeHead(429, { 'retry-after': length === 1 ? '7' : '999999999' }).end();
    });
    const reporter = reporterTo(receiver.url);
    expect(await reporter.report(request({}), signal)).toMatchObject({ notBefore: '1795000007500000000' });
    expect(await reporter.report(request({}), signal)).toMatchObject({ notBefore: '1795003600500000000' });
  });

  test('that is away has taken nothing', async () => {
    const receiver = await openReceiver();
    await receiver.close();
    expect(await reporterTo(receiver.url).report(request({}), signal)).toEqual({
      ...{ kind: 'later', reason: 'unreachable', text: '127.0.0.1: ECONNREFUSED' },
    });
  });

  test('that takes messages and does not answer gets each three times at most', async () => {
    const hanging = await openReceiver(() => {});
    const reporter = reporterTo(hanging.url, { timeoutMs: 50 });
    const outcomes = [];
    for (let count = 0; count < 3; count++) outcomes.push((await reporter.report(request({}), signal)).kind);
    expect(outcomes).toEqual(['later', 'later', 'failed']);
    const cutting = await openReceiver(response => response.destroy());
    expect(await reporterTo(cutting.url).report(request({}), signal)).toMatchObject({ reason: 'timeout' });
  });

  test('whose refusal never ends is read in part', async () => {
    const endless = await openReceiver(response => {
      response.writeHead(400);
      const more = () => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
      };
      response.on('drain', more).on('error', () => {});
      more();
    });
    const answer = await reporterTo(endless.url).report(request({}), signal);
    expect(answer.kind === 'failed' ? answer.text.length : 0).toBeLessThan(300);
  });

  test('gets nothing from a process that may not act any more', async () => {
    const receiver = await openReceiver();
    await expect(reporterTo(receiver.url).report(request({}), signal, () => false)).rejects.toThrow(
      'another process may send this message',
    );
    expect(receiver.taken).toEqual([]);
  });
});

describe('options and reporters', () => {
  test('an address is kept as a secret, and mistakes do not show it', () => {
    const { parsed, problems } = read({ url: 'https://chat.example.org/hooks/s3cr3t', format: 'slack' });
    expect(problems).toEqual([]);
    expect(JSON.stringify(parsed)).not.toContain('s3cr3t');
    expect(read({}).problems).toEqual(['url: is required']);
    for (const url of ['ftp://host/s3cr3t', 'https://user:s3cr3t@host/', 's3cr3t'])
      expect(read({ url }).problems.join()).toMatch(/^url: (?!.*s3cr3t)/);
    expect(read({ url: 'https://host', format: 'xml' }).problems.join()).toContain('format');
  });

  test('a reporter says the channel and the mention, and nothing else', () => {
    expect(parseWebhookReporter(null)).toMatchObject({ kind: 'ok', value: {} });
    expect(parseWebhookReporter({ channel: 'builds' })).toMatchObject({ value: { channel: 'builds' } });
    for (const [value, text] of [
      [{ chanel: 'x' }, 'did you mean "channel"'],
      [{ channel: ['a', 'b'] }, 'one text'],
      [{ mention: 'x'.repeat(300) }, 'at most 200'],
    ] as const) {
      const parsed = parseWebhookReporter(value);
      expect(parsed.kind === 'invalid' ? parsed.problems[0].text : '').toContain(text);
    }
  });
});
