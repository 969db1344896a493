/**
 * A process that holds a session and writes down, line by line, what it believes: for tests that stop it.
 *
 *     node paused-process.ts <port> <timeout ms> <root>
 *
 * Every 10 ms it prints `<state> <outcome of a write made right then> <state right after>`.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { systemClock } from '../../../../src/lib/clock.ts';
import { create, set } from '../../../../src/store/port.ts';
import { openZooKeeper } from '../../../../src/store/zookeeper/source.ts';
import { SILENT } from '../../../fake/silent-log.ts';

const [, , port = '', timeout = '', root = ''] = process.argv;
const source = openZooKeeper({
  hosts: [{ host: '127.0.0.1', port: Number(port) }],
  sessionTimeoutMs: Number(timeout),
  auth: undefined,
  tls: undefined,
  clock: systemClock(),
  log: SILENT,
  random: Math.random,
});
const store = await source.connect('paused');
await store.multi([create(root), create(`${root}/mine`, undefined, { ephemeral: true })]);
for (;;) {
  const state = store.sessionState;
  let outcome = 'written';
  try {
    await store.multi([set(`${root}/mine`, Buffer.from(String(process.hrtime.bigint())))]);
  } catch (error) {
    outcome = error instanceof Error && 'code' in error ? String(error.code) : String(error);
  }
  process.stdout.write(`${state} ${outcome} ${store.sessionState}\n`);
  await pause(10);
}
