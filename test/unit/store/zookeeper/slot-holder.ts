/**
 * A process that takes the semaphore `db` for a playbook, writes `holds`, and stays: for a test that kills it.
 *
 *     node slot-holder.ts <port> <timeout ms> <root>
 */
import { systemClock } from '../../../../src/lib/clock.ts';
import { parseUuid } from '../../../../src/lib/ids.ts';
import type { SemaphoreHolder } from '../../../../src/model/semaphore.ts';
import { holdSlots } from '../../../../src/store/hold-slots.ts';
import { storePaths } from '../../../../src/store/paths.ts';
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
const place = { store: await source.connect('executor'), paths: storePaths(root) };
const uuid = parseUuid('a'.repeat(32));
const holder: SemaphoreHolder = {
  ...{ tenant: 'acme', pipeline: 'gate', item: uuid, buildset: uuid, build: uuid, job: 'killed' },
  ...{ change: 'app 1', since: systemClock().now(), playbook: 'run.sh' },
};
const wait = { signal: new AbortController().signal, onFull: () => {} };
await holdSlots(place, [{ name: 'db', scope: 'tenant', max: 1 }], holder, wait);
process.stdout.write('holds\n');
setInterval(() => {}, 1000);
