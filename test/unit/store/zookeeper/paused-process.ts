/**
 * A process that holds a session and writes down, line by line, what it believes: for tests that stop it.
 *
 *     node paused-process.ts <port> <timeout ms> <root>
 *
 * Every 10 ms it prints `<state> <outcome of a write made right then> <state right after>`; when it was not running for half the
 * timeout, first `woke <state>`: that is before anything the server said meanwhile, or says now, is read.
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
let before = performance.now();
setInterval(() => {
  const now = performance.now();
  if (now - before > Number(timeout) / 2) process.stdout.write(`woke ${store.sessionState}\n`);
  before = now;
}, 10);
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
