/** A process with an executor in it, for tests that kill it: `node service-to-kill.ts <folder> <sandbox mode> <script body>`. */
import { buildRequest, openBench, script } from './fixture.ts';

const [folder = '', mode = 'none', body = ''] = process.argv.slice(2);
const bench = await openBench({ sandbox: mode === 'none' ? 'none' : 'auto' }, { folder });
const commit = await bench.commit({ 'ci/run.sh': script(body) });
const build = bench.submit(buildRequest(commit, { run: ['ci/run.sh'] }));
await build.logHolds('| begun');
process.stdout.write(
  `${JSON.stringify({ build: build.request.uuid, sandbox: bench.executor.sandboxReport })}\n`,
);
