/** Reports as messages, at a broker on loopback. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { Aedes } from 'aedes';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createBroker } from '../../../../drivers/mqtt/broker.ts';
import { openMqtt } from '../../../../drivers/mqtt/index.ts';
import { readMqttOptions } from '../../../../drivers/mqtt/options.ts';
import { parseTopicReporter } from '../../../../drivers/mqtt/reporter-config.ts';
import type { ReportRequest } from '../../../../src/driver/reporter.ts';
import { parseNanoseconds } from '../../../../src/lib/clock.ts';
import { parseUuid } from '../../../../src/lib/ids.ts';
import { optionReader } from '../../../../src/lib/option-reader.ts';
import type { Json } from '../../../../src/model/job.ts';
import { makeAuthority } from '../../../fake/certificates.ts';
import { proposedChange } from '../../../fake/queue-item.ts';
import { sampleReport } from '../../../fake/report.ts';

const { signal } = new AbortController();
const DEADLINES = { connect: 5_000, answer: 5_000 };
const clock = { now: () => parseNanoseconds('1795000000500000000') };

function read(given: { readonly [option: string]: string | number }) {
  const at = { file: 'gatehouse.conf', line: 1 };
  const options = new Map(
    Object.entries(given).map(([name, value], index) => [
      name,
      { value: String(value), at: { file: 'gatehouse.conf', line: index + 2 } },
    ]),
  );
  const reader = optionReader({ name: 'connection broker', at, options, directory: '/etc/gatehouse' });
  const parsed = readMqttOptions(reader);
  return { parsed, problems: reader.finish().map(({ option, reason }) => `${option}: ${reason}`) };
}

function messenger(given: { readonly [option: string]: string | number }, deadlines = DEADLINES) {
  const { parsed, problems } = read({ server: '127.0.0.1', ...given });
  expect(problems).toEqual([]);
  if (parsed === undefined) throw new Error('no options');
  const opened = openMqtt('broker', createBroker(parsed, deadlines), clock);
  onTestFinished(() => opened.close());
  return opened.reporter;
}

/** A broker with what was published. */
async function openBroker(
  parts: { readonly port?: number; readonly tls?: { key: Buffer; cert: Buffer; ca: Buffer } } = {},
) {
  const aedes = await Aedes.createBroker();
  const published: { topic: string; qos: number; payload: Json }[] = [];
  aedes.on('publish', ({ topic, qos, payload }, client) => {
    if (client !== null) published.push({ topic, qos, payload: JSON.parse(payload.toString()) });
  });
  const sockets = new Set<Socket>();
  const serve = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    aedes.handle(socket);
  };
  const server: Server =
    parts.tls === undefined
      ? createServer(serve)
      : createTlsServer({ ...parts.tls, requestCert: true, rejectUnauthorized: true }, serve);
  await new Promise<void>(resolve => server.listen(parts.port ?? 0, '127.0.0.1', resolve));
  let isOpen = true;
  const close = async () => {
    if (!isOpen) return;
    isOpen = false;
    for (const socket of sockets) socket.destroy();
    await new Promise<void>(resolve => aedes.close(() => server.close(() => resolve())));
  };
  onTestFinished(close);
  return { aedes, published, port: (server.address() as AddressInfo).port, close };
}

const change = { ...proposedChange('A'), branch: 'stable/1+2', owner: 'alice', url: 'http://host/A' };
const item = parseUuid('4f0c0000000000000000000000000001');
const uuid = (digit: string) => parseUuid(digit.repeat(32));
const at = (seconds: number) =>
  parseNanoseconds(String(1_795_000_000n * 1_000_000_000n + BigInt(seconds) * 1_000_000_000n));
const reported = {
  ...{ event: uuid('1'), receivedAt: at(-60), enqueuedAt: at(-50), buildset: uuid('2') },
  builds: [
    {
      ...{
        job: 'unit',
        voting: true,
        dependencies: ['compile'],
        uuid: uuid('3'),
        result: 'SUCCESS' as const,
      },
      ...{
        requestedAt: at(-40),
        startedAt: at(-30),
        endedAt: at(-10),
        url: 'http://gate/b/3',
        log: 'http://gate/b/3/log',
        artifacts: [
          { name: 'image', url: 'https://logs/image.tar', metadata: { type: 'container_image' } },
          { name: 'docs', url: 'https://logs/docs/' },
        ],
      },
    },
    {
      ...{ job: 'docs', voting: false, dependencies: [], uuid: null, result: null },
      ...{ requestedAt: null, startedAt: null, endedAt: null, url: null, log: null },
    },
  ],
  retried: [],
};

function request(config: Json, parts: Parameters<typeof sampleReport>[0] = {}): ReportRequest {
  return { config, change, report: sampleReport({ changes: [change], reported, ...parts }) };
}

test('a report is one message in the schema of Zuul, to the topic that the reporter says', async () => {
  const broker = await openBroker();
  const reporter = messenger({ port: broker.port });
  const config = { topic: '{tenant}/zuul/{pipeline}/{project}/{branch}/{change}', qos: 2 };
  expect(await reporter.report(request(config), signal)).toEqual({ kind: 'done' });
  const {
    project,
    branch,
    change_url,
    change: number,
    patchset,
    commit_id,
    owner,
    ref,
  } = {
    ...{ project: 'acme/app', branch: 'stable/1+2', change_url: 'http://host/A', change: change.id },
    ...{ patchset: change.patchset, commit_id: change.commit, owner: 'alice', ref: change.ref },
  };
  const about = { project, branch, change_url, change: number, patchset, commit_id, owner, ref };
  expect(broker.published).toEqual([
    {
      topic: `acme/zuul/gate/acme/app/stable/1_2/${change.id}`,
      qos: 2,
      payload: {
        ...{ timestamp: 1_795_000_000.5, action: 'success', tenant: 'acme', pipeline: 'gate' },
        ...about,
        changes: [about],
        message: 'Build succeeded (gate).',
        ...{ uuid: item, zuul_ref: `Z${uuid('2')}`, zuul_event_id: uuid('1') },
        ...{ trigger_time: 1_794_999_940, enqueue_time: 1_794_999_950 },
        buildset: {
          uuid: uuid('2'),
          result: 'SUCCESS',
          builds: [
            {
              ...{ job_name: 'unit', voting: true, change: about, uuid: uuid('3'), result: 'SUCCESS' },
              ...{ execute_time: 1_794_999_960, start_time: 1_794_999_970, end_time: 1_794_999_990 },
              ...{
                log_url: 'http://gate/b/3/log',
                web_url: 'http://gate/b/3',
                dependencies: ['compile'],
                artifacts: [
                  { name: 'image', url: 'https://logs/image.tar', metadata: { type: 'container_image' } },
                  { name: 'docs', url: 'https://logs/docs/' },
                ],
              },
            },
            { job_name: 'docs', voting: false },
          ],
          retry_builds: [],
        },
      },
    },
  ]);
  await reporter.report(request({ topic: 'start' }, { action: 'start', result: '' }), signal);
  await vi.waitFor(() => expect(broker.published).toHaveLength(2));
  expect(broker.published[1]).toMatchObject({
    payload: {
      action: 'start',
      buildset: {
        result: null,
        builds: [
          { job_name: 'unit', voting: true },
          { job_name: 'docs', voting: false },
        ],
      },
    },
  });
});

test('a broker that is away is asked again, and after it came back the next message goes through', async () => {
  const first = await openBroker();
  const reporter = messenger({ port: first.port });
  expect(await reporter.report(request({ topic: 'a', qos: 1 }), signal)).toEqual({ kind: 'done' });
  await first.close();
  expect(await reporter.report(request({ topic: 'b', qos: 1 }), signal)).toMatchObject({ kind: 'later' });
  const second = await openBroker({ port: first.port });
  expect(await reporter.report(request({ topic: 'b', qos: 1 }), signal)).toEqual({ kind: 'done' });
  expect(second.published.map(({ topic }) => topic)).toEqual(['b']);
});

test('a message that the broker does not confirm is sent three times at most', async () => {
  const broker = await openBroker();
  // Takes the message, and never answers.
  broker.aedes.authorizePublish = (_client, packet) => void seen.push(packet.topic);
  const seen: string[] = [];
  const reporter = messenger({ port: broker.port }, { connect: 5_000, answer: 150 });
  const kinds: string[] = [];
  for (let sent = 0; sent < 3; sent += 1)
    kinds.push((await reporter.report(request({ topic: 'a', qos: 1 }), signal)).kind);
  expect(kinds).toEqual(['later', 'later', 'failed']);
  expect(seen).toEqual(['a', 'a', 'a']);
});

test('user, password and client certificate are those of the settings, and the password is in no outcome', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'mqtt-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const authority = makeAuthority('broker authority');
  const own = authority.issue('gatehouse');
  const files = { ca_certs: authority.cert, certfile: own.cert, keyfile: own.key };
  const paths = Object.entries(files).map(([option, pem]) => {
    const path = join(directory, option);
    writeFileSync(path, pem);
    return [option, path] as const;
  });
  const server = authority.issue('localhost');
  const broker = await openBroker({ tls: { ...server, ca: authority.cert } });
  let isOpen = true;
  broker.aedes.authenticate = (_client, user, password, done) =>
    done(null, isOpen && user === 'gate' && password?.toString() === 's3cret-canary');
  const given = { port: broker.port, user: 'gate', password: 's3cret-canary', ...Object.fromEntries(paths) };
  expect(await messenger(given).report(request({ topic: 'a' }), signal)).toEqual({ kind: 'done' });
  isOpen = false;
  const refused = await messenger(given).report(request({ topic: 'a' }), signal);
  expect(refused).toMatchObject({ kind: 'later' });
  expect(JSON.stringify(refused)).not.toContain('s3cret-canary');
  const { certfile: _, keyfile: __, ...without } = given as { [option: string]: string | number };
  expect(await messenger(without).report(request({ topic: 'a' }), signal)).toMatchObject({ kind: 'later' });
});

test('the options are those of Zuul, and mistakes have their reasons', () => {
  expect(read({}).parsed).toMatchObject({ server: 'localhost', port: 1883, keepalive: 60, tls: undefined });
  expect(read({ certfile: '/x/cert.pem', password: 'p' }).problems).toEqual([
    'ca_certs: is required with "certfile", "keyfile" or "ciphers"',
    expect.stringContaining('certfile: cannot be read: ENOENT'),
    'certfile: goes with "keyfile", and only with it',
    'password: goes with "user"',
  ]);
});

test.each([
  [{}, 'needs one "topic"'],
  [{ topic: '{chnage}' }, '"topic": {chnage} is no replacement field; known are tenant, pipeline, project,'],
  [{ topic: 'a', qos: 3 }, '"qos" must be 0, 1 or 2'],
  [{ topic: 'a', qso: 1 }, 'unknown key "qso" in a reporter of an mqtt connection'],
])('%j is a mistake', (config, text) => {
  const parsed = parseTopicReporter(config);
  expect(parsed.kind === 'invalid' ? parsed.problems[0].text : 'fine').toContain(text);
});

test('what builds returned is asked for, and in the message', async () => {
  const broker = await openBroker();
  const config = { topic: 'a', qos: 1, 'include-returned-data': true };
  expect(parseTopicReporter(config)).toMatchObject({ kind: 'ok', value: config });
  const [first, ...rest] = reported.builds;
  const builds = [...(first === undefined ? [] : [{ ...first, data: { version: '1.2' } }]), ...rest];
  const message = request(config, { reported: { ...reported, builds } });
  expect(await messenger({ port: broker.port }).report(message, signal)).toEqual({ kind: 'done' });
  expect(broker.published).toMatchObject([
    { payload: { buildset: { builds: [{ returned_data: { version: '1.2' } }, { job_name: 'docs' }] } } },
  ]);
});
