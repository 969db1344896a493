/** A scheduler in a process of its own, to be killed: `node takeover-holder.ts <port> <session timeout, ms>`. Says `ready`. */
import { systemClock } from '../../src/lib/clock.ts';
import { randomIds } from '../../src/lib/ids.ts';
import { openZooKeeper } from '../../src/store/zookeeper/source.ts';
import { SILENT } from '../fake/silent-log.ts';
import { createFakeHost } from '../unit/scheduler/fake-host.ts';
import { LAYOUT, schedulerOn, TENANT } from '../unit/scheduler/schedulers.ts';

const [, , port, timeout] = process.argv;
const source = openZooKeeper({
  hosts: [{ host: '127.0.0.1', port: Number(port) }],
  sessionTimeoutMs: Number(timeout),
  auth: undefined,
  tls: undefined,
  clock: systemClock(),
  log: SILENT,
  random: Math.random,
});
const store = await source.connect('holder');
const parts = { name: 'holder', tenants: [TENANT], ids: randomIds(), log: SILENT };
const scheduler = await schedulerOn(store, createFakeHost(LAYOUT), parts);
const running = scheduler.run(new AbortController().signal);
await scheduler.ready;
process.stdout.write('ready\n');
await running;
