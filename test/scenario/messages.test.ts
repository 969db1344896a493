/** Reports to a mail server, a message broker and a chat: for every item, of any host, and none waits for them. */
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { Aedes } from 'aedes';
import { expect, onTestFinished, test } from 'vitest';
import { BASE_JOB, gateYaml } from '../fake/layout-text.ts';
import { openMailServer } from '../fake/mail-server.ts';
import { DEADLINE } from './observer.ts';
import { openWorld } from './open-world.ts';

const layout = `${gateYaml()}
${BASE_JOB}
- job: {name: unit}
- job: {name: package, run: playbooks/package.sh}
- project: {name: org/project, gate: {jobs: [unit, package]}}
- project: {name: org/project1, gate: {jobs: [unit]}}
`;

const configFiles = {
  'playbooks/package.sh': `#!/bin/sh\nexec gatehouse return '{"zuul": {"log_url": "https://logs/1/"}, "version": "1.2"}'\n`,
};

async function openBroker() {
  const aedes = await Aedes.createBroker();
  const published: { topic: string; action: string; result: string | null; returned: unknown[] }[] = [];
  aedes.on('publish', ({ topic, payload }, client) => {
    if (client === null) return;
    const { action, buildset } = JSON.parse(payload.toString());
    const returned = (buildset?.builds ?? []).map((each: { returned_data?: unknown }) => each.returned_data);
    published.push({ topic, action, result: buildset?.result ?? null, returned });
  });
  const server = createServer(socket => {
    socket.on('error', () => {});
    aedes.handle(socket);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise<void>(resolve => aedes.close(() => server.close(() => resolve()))));
  return { published, port: (server.address() as AddressInfo).port };
}

/** A chat that is busy at first. */
async function openChat() {
  const lines: string[] = [];
  let isBusy = true;
  const server = createHttpServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    if (!isBusy) lines.push(JSON.parse(Buffer.concat(chunks).toString()).text);
    response.writeHead(isBusy ? 503 : 200).end();
    isBusy = false;
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise<void>(resolve => server.close(() => resolve())));
  return { lines, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks/x1y2` };
}

test('a change lands while its mails wait for a server that is down, and they come when it is back', {
  timeout: 4 * DEADLINE,
}, async () => {
  const broker = await openBroker();
  const chat = await openChat();
  await using mails = await openMailServer();
  mails.answer = 'away';
  const pipelines = layout
    .replace(
      '    success:\n',
      "    success:\n      mail: {to: all@example.org, subject: '{change.number} is {pipeline}'}\n      broker: {topic: '{tenant}/{pipeline}/{change}', qos: 1, include-returned-data: true}\n",
    )
    .replace(
      '    failure:\n',
      '    failure:\n      mail: {to: all@example.org}\n      chat: {mention: "@here"}\n',
    );
  const world = await openWorld(
    {
      layout: pipelines,
      configFiles,
      sections: [
        '[connection mail]',
        'driver = smtp',
        'server = 127.0.0.1',
        `port = ${mails.port}`,
        'default_from = gate@example.org',
        '[connection broker]',
        'driver = mqtt',
        'server = 127.0.0.1',
        `port = ${broker.port}`,
        '[connection chat]',
        'driver = webhook',
        `url = ${chat.url}`,
        'format = slack',
        '[notify core-team]',
        'connection = chat',
        'events = failed, reset-twice',
        'pipelines = gate',
        'projects = org/project1',
      ],
      expectedTrouble: [/connection (mail|chat) does not serve/],
    },
    { kind: 'embedded' },
  );
  try {
    await world.propose('A');
    await world.propose('B', { project: 'org/project1' });
    world.fail('unit', 'B');
    world.free();
    await world.approve('A');
    await world.leaves('A', 'SUCCESS');
    expect(await world.landed()).toEqual(['A']);
    await world.approve('B');
    await world.leaves('B', 'FAILURE');
    await world.observer.until('the log to say it', () =>
      world.log.trouble.some(line => line.includes('connection mail does not serve')),
    );
    mails.answer = 'takes';
    await world.observer.until('both mails', () => mails.taken.length === 2);
    const raw = mails.taken.map(mail => mail.raw).toSorted();
    expect(mails.taken.map(({ to }) => to)).toEqual([['all@example.org'], ['all@example.org']]);
    expect(raw.some(text => text.includes('Subject: master/A is gate'))).toBe(true);
    expect(raw.some(text => text.includes('Build failed (gate).'))).toBe(true);
    await world.observer.until('the messages', () => broker.published.length >= 1);
    expect(broker.published).toContainEqual({
      ...{ topic: 'tenant-one/gate/master/A', action: 'success', result: 'SUCCESS' },
      returned: [undefined, { version: '1.2' }],
    });
    await world.observer.until('the report and the notice in the chat', () => chat.lines.length === 2);
    const link = String.raw` <http.*\/item\/[0-9a-f-]+\|details>$`;
    expect(chat.lines.toSorted()).toEqual([
      expect.stringMatching(`^@here org/project1 .*B.* · Build failed \\(gate\\): unit FAILURE.*${link}`),
      expect.stringMatching(`^org/project1 .*B.* · Failed \\(gate\\): unit FAILURE.*${link}`),
    ]);
    await world.end();
  } finally {
    await world[Symbol.asyncDispose]();
  }
});
