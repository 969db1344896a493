/**
 * A process with an executor in it, for tests that kill or stop it: `node service-to-kill.ts <folder> <sandbox mode> <script body>
 * [silence limit in seconds]`. Prints a line when the script has said `begun`, and another with the result when there is one.
 */
import { flushCompileCache } from 'node:module';
import { buildRequest, openBench, script } from './fixture.ts';

// What is killed keeps nothing of what it compiled, and the next one would compile all of it again.
flushCompileCache();

const [folder = '', mode = 'none', body = '', silenceLimit] = process.argv.slice(2);
const bench = await openBench(
  {
    sandbox: mode === 'none' ? 'none' : 'auto',
    ...(silenceLimit === undefined ? {} : { silenceLimitSeconds: Number(silenceLimit) }),
  },
  { folder },
);
const commit = await bench.commit({ 'ci/run.sh': script(body) });
const build = bench.submit(buildRequest(commit, { run: ['ci/run.sh'] }));
await build.logHolds('| begun');
process.stdout.write(
  `${JSON.stringify({ build: build.request.uuid, sandbox: bench.executor.sandboxReport })}\n`,
);
const { result } = await build.ended;
process.stdout.write(`${JSON.stringify({ result: result.result, detail: result.detail })}\n`);
