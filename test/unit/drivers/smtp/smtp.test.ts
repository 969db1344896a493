/** Reports as mails, at a server on loopback. */
import { expect, onTestFinished, test } from 'vitest';
import { openMessenger, smtpDriver } from '../../../../drivers/smtp/index.ts';
import { readSmtpOptions } from '../../../../drivers/smtp/options.ts';
import { parseMailReporter } from '../../../../drivers/smtp/reporter-config.ts';
import { mailSender } from '../../../../drivers/smtp/send-mail.ts';
import type { ReportRequest } from '../../../../src/driver/reporter.ts';
import { optionReader } from '../../../../src/lib/option-reader.ts';
import type { Json } from '../../../../src/model/job.ts';
import { makeAuthority } from '../../../fake/certificates.ts';
import { openMailServer } from '../../../fake/mail-server.ts';
import { proposedChange } from '../../../fake/queue-item.ts';
import { sampleReport } from '../../../fake/report.ts';

const { signal } = new AbortController();
const DEADLINES = { answer: 5_000, mail: 10_000 };

function read(given: { readonly [option: string]: string | number }) {
  const at = { file: 'gatehouse.conf', line: 1 };
  const options = new Map(
    Object.entries(given).map(([name, value], index) => [
      name,
      { value: String(value), at: { file: 'gatehouse.conf', line: index + 2 } },
    ]),
  );
  const reader = optionReader({ name: 'connection mail', at, options, directory: '/etc/gatehouse' });
  const parsed = readSmtpOptions(reader);
  return { parsed, problems: reader.finish().map(({ option, reason }) => `${option}: ${reason}`) };
}

function messenger(
  given: { readonly [option: string]: string | number },
  ca?: string,
  deadlines = DEADLINES,
) {
  const { parsed, problems } = read({
    ...{ server: '127.0.0.1', default_from: 'gate@example.org', default_to: 'all@example.org' },
    ...given,
  });
  expect(problems).toEqual([]);
  if (parsed === undefined) throw new Error('no options');
  const opened = openMessenger('mail', parsed, mailSender(parsed, ca, deadlines));
  onTestFinished(() => opened.close());
  return opened;
}

const change = proposedChange('A');

function request(config: Json, parts: Parameters<typeof sampleReport>[0] = {}): ReportRequest {
  return { config, change, report: sampleReport({ changes: [change], ...parts }) };
}

const headersOf = (raw: string) => (raw.split('\r\n\r\n')[0] ?? '').replace(/\r\n[ \t]+/g, ' ').split('\r\n');

test('a report is one mail, from and to whom the reporter says, with the text as it is', async () => {
  await using server = await openMailServer();
  const { reporter } = messenger({
    port: server.port,
    default_from: 'gate@example.org',
    default_to: 'all@example.org',
  });
  const text = `Build succeeded (gate).\n.\nA line that begins with a dot, and ünïcode.`;
  expect(await reporter.report(request({}, { text }), signal)).toEqual({ kind: 'done' });
  const config = {
    to: 'a@example.org, b@example.org',
    from: 'ci@example.org',
    subject: '{pipeline.name}: {change.number}',
  };
  expect(await reporter.report(request(config), signal)).toEqual({ kind: 'done' });
  const [first, second] = server.taken;
  expect(first).toMatchObject({ from: 'gate@example.org', to: ['all@example.org'], user: undefined });
  expect(headersOf(first?.raw ?? '')).toEqual(
    expect.arrayContaining([
      'From: gate@example.org',
      'To: all@example.org',
      expect.stringMatching(/^Subject: Report for changes .* against refs\//),
      'Auto-Submitted: auto-generated',
      expect.stringMatching(/^Message-ID: <[0-9a-f]{32}@example\.org>$/),
    ]),
  );
  expect(second).toMatchObject({ from: 'ci@example.org', to: ['a@example.org', 'b@example.org'] });
  expect(headersOf(second?.raw ?? '')).toContain(`Subject: gate: ${change.id}`);
});

test('nothing that a stranger wrote begins a header or another recipient', async () => {
  await using server = await openMailServer();
  const { reporter } = messenger({ port: server.port });
  const evil = { ...change, subject: 'x\r\nBcc: victim@example.org\r\n\r\nbody\u2028Cc: v@example.org' };
  const report = sampleReport({ changes: [evil], text: 'ok\r\n.\r\nRCPT TO:<victim@example.org>\r\n' });
  const outcome = await reporter.report(
    { config: { subject: '{change.subject}' }, change: evil, report },
    signal,
  );
  expect(outcome).toEqual({ kind: 'done' });
  expect(server.taken).toHaveLength(1);
  const [mail] = server.taken;
  expect(mail?.to).toEqual(['all@example.org']);
  const names = headersOf(mail?.raw ?? '').map(line => line.split(':')[0]?.toLowerCase());
  expect(names).not.toContain('bcc');
  expect(names).not.toContain('cc');
  expect(names.filter(name => name === 'subject')).toHaveLength(1);
});

test('a server that is away or busy is asked again, and one that refuses the mail is not', async () => {
  const server = await openMailServer();
  const { reporter } = messenger({ port: server.port });
  server.answer = 'busy';
  expect(await reporter.report(request({}), signal)).toMatchObject({
    kind: 'later',
    text: expect.stringContaining('451'),
  });
  server.answer = 'refuses';
  expect(await reporter.report(request({}), signal)).toMatchObject({
    kind: 'failed',
    text: expect.stringContaining('554'),
  });
  await server.close();
  expect(await reporter.report(request({}), signal)).toMatchObject({ kind: 'later', reason: 'unreachable' });
});

test('a mail whose end the server has, and did not confirm, is sent three times at most, with one id', async () => {
  await using server = await openMailServer();
  const { reporter } = messenger({ port: server.port }, undefined, { answer: 150, mail: 10_000 });
  server.answer = 'silent';
  const kinds: string[] = [];
  for (let sent = 0; sent < 3; sent += 1) kinds.push((await reporter.report(request({}), signal)).kind);
  expect(kinds).toEqual(['later', 'later', 'failed']);
  expect(server.taken).toHaveLength(3);
  const ids = server.taken.map(({ raw }) => headersOf(raw).find(line => line.startsWith('Message-ID')));
  expect(new Set(ids).size).toBe(1);
});

test('the password logs in over TLS whose certificate is checked, and is in no outcome', async () => {
  const authority = makeAuthority('mail authority');
  const { key, cert } = authority.issue('localhost');
  let isOpen = true;
  await using server = await openMailServer({
    ...{ key, cert, authOptional: false },
    onAuth: ({ username, password }, _, done) =>
      isOpen && password === 's3cret-canary'
        ? done(null, { user: String(username) })
        : done(new Error(`wrong password ${password}`)),
  });
  const given = { port: server.port, user: 'gate', password: 's3cret-canary', use_starttls: 'true' };
  const trusting = messenger({ ...given }, authority.cert.toString()).reporter;
  expect(await trusting.report(request({}), signal)).toEqual({ kind: 'done' });
  expect(server.taken).toMatchObject([{ user: 'gate', secure: true }]);
  const strict = await messenger({ ...given }).reporter.report(request({}), signal);
  expect(strict).toMatchObject({ kind: 'later', text: expect.stringMatching(/certificate|self.signed/i) });
  isOpen = false;
  const refused = await trusting.report(request({}), signal);
  expect(refused).toMatchObject({ kind: 'later' });
  expect(JSON.stringify([strict, refused])).not.toContain('s3cret-canary');
});

test('the options are those of Zuul, and mistakes have their reasons', () => {
  expect(read({}).parsed).toMatchObject({
    ...{ server: 'localhost', port: 25, defaultFrom: 'zuul', defaultTo: 'zuul' },
    ...{ login: undefined, startTls: false },
  });
  expect(read({ user: 'gate' }).parsed?.login).toBeUndefined();
  expect(read({ default_to: 'ops, ', default_from: 'a@b.c,d@e.f', ca_certs: 'ca.pem' }).problems).toEqual([
    'default_from: names more than one sender',
    'ca_certs: goes with "use_starttls"',
  ]);
  expect(read({ default_to: 'Gate <gate@example.org>' }).problems).toEqual([
    'default_to: "Gate <gate@example.org>" is no address: write user@example.org, without a name around it',
  ]);
  expect(smtpDriver.name).toBe('smtp');
});

test.each([
  [{ to: 'a@b.c\nBcc: d@e.f' }, '"to": "a@b.c\nBcc: d@e.f" is no address'],
  [{ to: '' }, '"to": names no address'],
  [{ subject: '{chnage}' }, '"subject": {chnage} is no replacement field; known are pipeline,'],
  [{ subjcet: 'x' }, 'unknown key "subjcet" in a reporter of an smtp connection'],
])('%j is a mistake', (config, text) => {
  const parsed = parseMailReporter(config);
  expect(parsed.kind === 'invalid' ? parsed.problems[0].text : 'fine').toContain(text);
});
