/** Jobs whose hosts do not answer, or are held, end as NODE_FAILURE when that has lasted too long, and with what the hosts said. */
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { nodesFolder } from '../fake/nodes-folder.ts';
import { keyPair } from '../fake/ssh-host.ts';
import { layoutWith } from './layouts.ts';
import { DEADLINE } from './observer.ts';
import { openWorld } from './open-world.ts';

const layout = layoutWith(
  `
- job:
    name: unit
    run: [playbooks/unit.sh]
    nodeset: {nodes: [{name: builder, label: debian}]}
- project:
    name: org/project
    gate: {jobs: [unit]}
`,
  { notes: false },
);
const configFiles = { 'playbooks/unit.sh': '#!/bin/sh\n' };

/** A machine that ends every connection at once. */
async function deafMachine() {
  const server = createServer(socket => socket.destroy());
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return { port: address.port, [Symbol.asyncDispose]: async () => void server.close() };
}

test('a change whose hosts are all out of service waits for a time, and is reported with their reasons', {
  timeout: 2 * DEADLINE,
}, async () => {
  await using machine = await deafMachine();
  const host = { name: 'web1', port: machine.port, hostKey: keyPair().public };
  await using nodes = await nodesFolder([host], { lines: 'outage-limit: 1\n' });
  const world = await openWorld(
    {
      ...{ layout, configFiles, sections: [nodes.section] },
      expectedTrouble: [/a host is quarantined/, /a build that waited cannot run/],
    },
    { kind: 'embedded' },
  );
  try {
    world.free();
    await world.propose('A');
    await world.approve('A');
    await world.leaves('A', 'FAILURE');
    const [build] = await world.api.get<
      readonly { readonly result: string; readonly error_detail: string }[]
    >('/api/tenant/tenant-one/builds');
    expect(build).toMatchObject({
      result: 'NODE_FAILURE',
      error_detail: expect.stringMatching(
        /^no host for its nodes was in service for 1\.0s: web1: Connection lost before handshake$/,
      ),
    });
    await world.end();
    const waits = world.sink.spans.filter(({ name }) => name === 'RequestNodes unit');
    expect(waits.map(({ attributes }) => attributes['gatehouse.result'])).toEqual([
      'SUCCESS',
      'NODE_FAILURE',
    ]);
  } finally {
    await world[Symbol.asyncDispose]();
  }
});
