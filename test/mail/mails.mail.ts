/** Reports and notices as mails, at a real mail server. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openMessenger } from '../../drivers/smtp/index.ts';
import { mailSender } from '../../drivers/smtp/send-mail.ts';
import { Secret } from '../../src/lib/secret.ts';
import { makeAuthority } from '../fake/certificates.ts';
import { BASE_JOB, gateYaml } from '../fake/layout-text.ts';
import { proposedChange } from '../fake/queue-item.ts';
import { sampleReport } from '../fake/report.ts';
import { DEADLINE } from '../scenario/observer.ts';
import { openWorld } from '../scenario/open-world.ts';
import { startMailpit } from './start-mailpit.ts';

const authority = makeAuthority('mail authority');
const { signal } = new AbortController();
let directory = '';
const inDirectory = (name: string) => path.join(directory, name);

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'gatehouse-mail-'));
  const { cert, key } = authority.issue('localhost');
  await writeFile(inDirectory('cert.pem'), cert);
  await writeFile(inDirectory('key.pem'), key);
  await writeFile(inDirectory('ca.pem'), authority.cert);
  await writeFile(inDirectory('users'), 'gate:s3cret-canary\n');
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const encrypted = () => [
  '--smtp-tls-cert',
  inDirectory('cert.pem'),
  '--smtp-tls-key',
  inDirectory('key.pem'),
];
const guarded = () => [...encrypted(), '--smtp-require-starttls', '--smtp-auth-file', inDirectory('users')];

interface Given {
  readonly port: number;
  readonly startTls?: boolean;
  readonly password?: string;
}

function sendTo({ port, startTls = false, password }: Given, to = 'team@example.org') {
  const options = {
    ...{ server: '127.0.0.1', port, startTls, caCerts: undefined },
    ...{ defaultFrom: 'gate@example.org', defaultTo: to },
    login: password === undefined ? undefined : { user: 'gate', password: new Secret(password) },
  };
  const send = mailSender(options, authority.cert.toString(), { answer: 10_000, mail: 20_000 });
  const change = proposedChange('A');
  const request = { config: {}, change, report: sampleReport({ changes: [change] }) };
  return openMessenger('mail', options, send).reporter.report(request, signal);
}

test('a server without encryption and login takes a mail as it is', async () => {
  await using server = await startMailpit();
  expect(await sendTo({ port: server.smtpPort })).toEqual({ kind: 'done' });
  expect(await server.list()).toMatchObject([{ To: [{ Address: 'team@example.org' }] }]);
  expect(await sendTo({ port: server.smtpPort, startTls: true })).toMatchObject({
    ...{ kind: 'later', reason: 'unreachable', text: expect.stringContaining('STARTTLS') },
  });
});

test('a server with both takes the right password over TLS, and nothing else', async () => {
  await using server = await startMailpit(...guarded());
  const port = server.smtpPort;
  expect(await sendTo({ port, startTls: true, password: 's3cret-canary' })).toEqual({ kind: 'done' });
  const refused = [
    await sendTo({ port, startTls: true, password: 'wrong-canary' }),
    await sendTo({ port, startTls: true }),
    await sendTo({ port }),
  ];
  expect(refused).toMatchObject([
    { kind: 'later', reason: 'denied' },
    { kind: 'later', reason: 'denied' },
    { kind: 'later' },
  ]);
  expect(JSON.stringify(refused)).not.toContain('canary');
  expect(await server.list()).toHaveLength(1);
});

test('a recipient whom the server refuses is reported', async () => {
  await using server = await startMailpit('--smtp-allowed-recipients', '@example.org$');
  const outcome = await sendTo({ port: server.smtpPort }, 'team@example.org, you@elsewhere.net');
  expect(outcome).toMatchObject({ kind: 'failed', text: expect.stringContaining('you@elsewhere.net') });
  expect(await server.list()).toHaveLength(1);
});

test('a rule and a pipeline write about one item in one thread', { timeout: 4 * DEADLINE }, async () => {
  await using server = await startMailpit(...guarded());
  const layout = `${gateYaml()}${BASE_JOB}
- job: {name: unit}
- project: {name: org/project, gate: {jobs: [unit]}}
`.replace('    failure:\n', '    failure:\n      mail: {}\n');
  const world = await openWorld(
    {
      layout,
      sections: [
        ...['[connection mail]', 'driver = smtp', 'server = 127.0.0.1', `port = ${server.smtpPort}`],
        ...['default_from = gate@example.org', 'default_to = team@example.org', 'use_starttls = true'],
        ...['user = gate', 'password = s3cret-canary', `ca_certs = ${inDirectory('ca.pem')}`],
        ...['[notify team]', 'connection = mail', 'events = failed'],
      ],
    },
    { kind: 'embedded' },
  );
  try {
    await world.propose('A');
    world.fail('unit', 'A');
    world.free();
    await world.approve('A');
    await world.leaves('A', 'FAILURE');
    await world.observer.until('both mails', async () => (await server.list()).length === 2);
    const listed = (await server.list()).toSorted((a, b) => a.Subject.localeCompare(b.Subject));
    const mails = await Promise.all(
      listed.map(async ({ ID, Subject }) => ({
        subject: Subject,
        text: await server.text(ID),
        headers: await server.headers(ID),
      })),
    );
    expect(mails.map(({ subject }) => subject)).toEqual([
      expect.stringMatching(/^org\/project .*"Change A" · Failed \(gate\): unit FAILURE/),
      expect.stringMatching(/^Report for changes org\/project .* against /),
    ]);
    expect(mails[0]?.text).toMatch(
      /^org\/project .* · Failed \(gate\): unit FAILURE.*\nhttp.*\/item\/[0-9a-f-]+\n/,
    );
    expect(mails[1]?.text).toMatch(/^Build failed \(gate\)\.\nhttp.*\/item\/[0-9a-f-]+\n/);
    expect(mails[0]?.headers.References).toEqual(mails[1]?.headers.References);
    expect(mails[0]?.headers['Message-Id']).not.toEqual(mails[1]?.headers['Message-Id']);
    for (const { headers } of mails)
      expect(headers).toMatchObject({
        'List-Id': ['Gatehouse <gate.tenant-one.example.org>'],
        'Auto-Submitted': ['auto-generated'],
        References: [expect.stringMatching(/^<item-[0-9a-f-]+@example\.org>$/)],
        Date: [expect.any(String)],
      });
    await world.end();
  } finally {
    await world[Symbol.asyncDispose]();
  }
});
