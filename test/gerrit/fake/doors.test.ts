/** The events of the world, as SSH and webhooks carry them. */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { readEventStream } from '../../../drivers/gerrit/intake/stream.ts';
import { startFakeGerrit } from './fake-gerrit.ts';

test('the stream shows what the account may see', async () => {
  await using gerrit = await startFakeGerrit();
  await gerrit.project('acme/cap');
  const { port, keyFile, knownHostsFile, ssh } = await gerrit.openSsh();
  const stop = new AbortController();
  const types: string[] = [];
  const opened = Promise.withResolvers<void>();
  const last = Promise.withResolvers<void>();
  const place = { host: '127.0.0.1', port, user: 'gatehouse', key: keyFile, knownHosts: [knownHostsFile] };
  const end = readEventStream(
    { ...place, keepAlive: 15 },
    {
      opened: opened.resolve,
      line: async text => {
        const { type } = JSON.parse(text);
        types.push(type);
        if (type === 'topic-changed') last.resolve();
      },
      tooLong: () => {},
    },
    file => readFile(file),
    stop.signal,
  );
  await opened.promise;
  while (ssh.streams() === 0) await new Promise(resolve => setImmediate(resolve));
  const change = await gerrit.push({ project: 'acme/cap', files: { a: 'a\n' }, private: true });
  await gerrit.setPrivate(change, false);
  await gerrit.setTopic(change, 't');
  await last.promise;
  expect(types.filter(type => type !== 'ref-updated')).toEqual(['private-state-changed', 'topic-changed']);
  stop.abort();
  await end;
});

test('webhooks are posted in order, doubled and lost by script', async () => {
  const got: string[] = [];
  const server = createServer((request, response) => {
    void buffer(request).then(body => {
      got.push(JSON.parse(body.toString()).type);
      response.end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  await using gerrit = await startFakeGerrit();
  await gerrit.project('acme/cap');
  gerrit.webhooks.target = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
  gerrit.webhooks.faults.push('lost', 'doubled', 'swapped');
  const change = await gerrit.push({ project: 'acme/cap', files: { a: 'a\n' } });
  await gerrit.setTopic(change, 't');
  await gerrit.webhooks.settled();
  expect(got).toEqual(['ref-updated', 'ref-updated', 'ref-updated', 'patchset-created', 'topic-changed']);
  expect(gerrit.webhooks.log.map(each => each.status)).toEqual([0, 200, 200, 200, 200, 200]);
  server.closeAllConnections();
  await new Promise(resolve => server.close(resolve));
});
