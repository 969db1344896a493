/** Reports as mails, at a server on loopback. */
import { type AddressInfo, createServer, type Socket } from 'node:net';
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

/** A server that speaks until it should be silent. */
async function openSilentServer(where: string) {
  const sockets = new Set<Socket>();
  const server = createServer(socket => {
    sockets.add(socket);
    socket.on('error', () => {});
    if (where === 'before its greeting') return;
    socket.write('220 mail.example.org ESMTP\r\n');
    socket.on('data', data => {
      const said = data.toString();
      if (said.startsWith('EHLO')) socket.write('250-mail.example.org\r\n250 STARTTLS\r\n');
      else if (said.startsWith('STARTTLS')) socket.write('220 go ahead\r\n');
      else if (said.startsWith('MAIL') && where === 'while it dribbles') {
        const dribble = () =>
          socket.writable && socket.write('250-still thinking\r\n', () => setTimeout(dribble, 5));
        dribble();
      } else if (said.startsWith('MAIL')) socket.write('250 fine\r\n');
    });
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise(resolve => server.close(resolve));
    },
  };
}

/** RFC 2047, form Q. */
const decodedWords = (header: string) =>
  header
    .replace(/\?= =\?/g, '?==?')
    .replace(/=\?UTF-8\?Q\?([^?]*)\?=/g, (_, word: string) => quotedText(word.replaceAll('_', ' ')))
    .replace(/=\?UTF-8\?B\?([^?]*)\?=/g, (_, word: string) => Buffer.from(word, 'base64').toString());

const quotedText = (text: string) =>
  Buffer.from(
    text
      .replace(/=\r\n/g, '')
      .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  ).toString('utf8');

const textOf = (raw: string) =>
  quotedText(raw.split('\r\n\r\n').slice(1).join('\r\n\r\n')).replaceAll('\r\n', '\n');

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

test('a notice names its change, and what is about one item is one thread that filters find', async () => {
  await using server = await openMailServer();
  const { reporter } = messenger({ port: server.port, default_from: 'gate@example.org' });
  const titled = {
    ...change,
    subject: 'Füge Ünicode hinzu, 日本語 🎉, mit einem Titel, der länger als eine Zeile ist',
  };
  const headline = 'Holds up gate: it waits for an executor, for 31m now.';
  const notice = {
    ...{
      changes: [titled],
      action: 'start' as const,
      headline,
      text: `${headline}\nhttp://gate/t/acme/item/4f0c`,
    },
    notice: { event: 'head-stuck' as const, cause: 'executor' },
  };
  await reporter.report({ config: {}, change: titled, report: sampleReport(notice) }, signal);
  const place = { tenant: 'Acme & Co', pipeline: 'post merge', queue: null };
  await reporter.report(request({}, { place }), signal);
  await reporter.report(request({}, { item: null }), signal);
  const [first, second, refusal] = server.taken.map(({ raw }) => headersOf(raw));
  const thread = '<item-4f0c0000000000000000000000000001@example.org>';
  expect(first).toEqual(
    expect.arrayContaining([
      `References: ${thread}`,
      `In-Reply-To: ${thread}`,
      'List-ID: Gatehouse <gate.acme.example.org>',
      'X-Gatehouse-Event: head-stuck',
      'X-Auto-Response-Suppress: All',
      expect.stringMatching(/^Date: \w{3}, \d\d? \w{3} \d{4} /),
    ]),
  );
  expect(second).toContain(`References: ${thread}`);
  expect(second).toContain('X-Gatehouse-Event: success');
  expect(second).toContain('List-ID: Gatehouse <post-merge.Acme-Co.example.org>');
  expect(refusal?.filter(line => /^(References|In-Reply-To):/i.test(line))).toEqual([]);
  expect(server.taken[0]?.raw).toMatch(/^[\x20-\x7e\r\n]*$/);
  const subject = first?.find(line => line.startsWith('Subject: ')) ?? '';
  expect(decodedWords(subject)).toMatch(
    /^Subject: acme\/app .*"Füge Ünicode hinzu, 日本語 🎉, mit.*" · Holds up gate: it waits/,
  );
  expect(textOf(server.taken[0]?.raw ?? '')).toBe(
    `${decodedWords(subject).slice('Subject: '.length)}\nhttp://gate/t/acme/item/4f0c\n`,
  );
});

test('a recipient whom the server refuses is reported, and the others have the mail', async () => {
  await using server = await openMailServer({
    onRcptTo: ({ address }, _, done) =>
      address.startsWith('gone')
        ? done(Object.assign(new Error('unknown here'), { responseCode: 550 }))
        : done(),
  });
  const { reporter } = messenger({ port: server.port });
  expect(await reporter.report(request({ to: 'a@example.org, gone@example.org' }), signal)).toEqual({
    kind: 'failed',
    text: expect.stringMatching(/^1 of 2 recipients .*gone@example\.org.*550 unknown here/),
  });
  expect(server.taken.map(({ to }) => to)).toEqual([['a@example.org']]);
});

test.each(['before its greeting', 'in the middle of TLS', 'after the recipient'])(
  'a server that falls silent %s has taken nothing, and is asked again',
  async where => {
    const authority = makeAuthority('mail authority');
    await using server = await openSilentServer(where);
    const given = { port: server.port, use_starttls: String(where === 'in the middle of TLS') };
    const { reporter } = messenger(given, authority.cert.toString(), { answer: 100, mail: 10_000 });
    expect(await reporter.report(request({}), signal)).toMatchObject({
      kind: 'later',
      reason: 'unreachable',
    });
  },
);

test('a server that answers without end is given up after the time of one mail', async () => {
  await using server = await openSilentServer('while it dribbles');
  const { reporter } = messenger({ port: server.port }, undefined, { answer: 10_000, mail: 200 });
  expect(await reporter.report(request({}), signal)).toEqual({
    ...{ kind: 'later', reason: 'unreachable', text: 'the mail server did not answer in time' },
  });
});

test('a password is sent over TLS alone where TLS is asked for, and a refused login is denied', async () => {
  await using plain = await openMailServer({ onAuth: (_, __, done) => done(null, { user: 'gate' }) });
  const login = { user: 'gate', password: 's3cret-canary' };
  const { reporter } = messenger({ port: plain.port, ...login, use_starttls: 'true' });
  expect(await reporter.report(request({}), signal)).toMatchObject({
    kind: 'later',
    text: expect.stringMatching(/STARTTLS/),
  });
  await using wrong = await openMailServer({ onAuth: (_, __, done) => done(new Error('wrong password')) });
  const asked = messenger({ port: wrong.port, ...login }).reporter;
  expect(await asked.report(request({}), signal)).toMatchObject({ kind: 'later', reason: 'denied' });
  expect([...plain.taken, ...wrong.taken]).toEqual([]);
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
