/**
 * A process with an executor in it whose failed build is to be held, for a test that kills it: `node holder-to-kill.ts <folder>`. Its
 * store is the file `store` there. It prints a line when the workspace is where it is held and its result is about to be stored, and
 * goes no further.
 */
import { flushCompileCache } from 'node:module';
import { join } from 'node:path';
import { failedBuildOf } from '../../../src/executor/hosts/hold-hosts.ts';
import { askOperation, findHold } from '../../../src/nodes/hold-requests.ts';
import { openEmbeddedStore } from '../../../src/store/embedded/server.ts';
import { ensureNode } from '../../../src/store/ensure-node.ts';
import { storePaths } from '../../../src/store/paths.ts';
import { manualClock } from '../store/test-bench.ts';
import { buildRequest, CANONICAL, openBench, script } from './fixture.ts';

// What is killed keeps nothing of what it compiled, and the next one would compile all of it again.
flushCompileCache();

const [folder = ''] = process.argv.slice(2);
const paths = storePaths();
const place = {
  store: openEmbeddedStore({ file: join(folder, 'store') }).connect(),
  paths,
  clock: manualClock(),
};
await ensureNode(place.store, paths.holds);
const holds = {
  records: place,
  find: (request: Parameters<typeof failedBuildOf>[0]) => findHold(place, failedBuildOf(request)),
  complete: () => {
    process.stdout.write('held, not stored\n');
    return new Promise<void>(() => {});
  },
};
const bench = await openBench({ sandbox: 'auto' }, { folder, holds });
const commit = await bench.commit({
  'ci/run.sh': script('echo evidence >"$ZUUL_WORK_DIR/left.txt"; exit 3'),
});
const request = buildRequest(commit, { run: ['ci/run.sh'] });
await place.store.multi([
  askOperation(place, {
    ...{ tenant: 'acme', project: CANONICAL, job: request.jobName, filter: { on: 'all' } },
    ...{
      reason: 'look',
      by: 'alice',
      at: place.clock.now(),
      maxCount: 1,
      count: 0,
      expiration: 60,
      held: [],
    },
  }),
]);
await bench.submit(request).ended;
