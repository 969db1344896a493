/** One build by an executor without privileges: `node unprivileged-run.ts <folder>`, prints its result as JSON. */
import { POST_SPAN } from '../../fake/post-span.ts';
import { buildRequest, openBench, script } from './fixture.ts';

await using bench = await openBench(
  { sandbox: 'auto', maxBuilds: 1, relay: { spans: 10, bytes: 100_000 } },
  { folder: process.argv[2] ?? '' },
);
const commit = await bench.commit({
  'ci/run.sh': script(
    'id -u; echo changed >> ci/run.sh; git status --short; mkdir closed; touch closed/f; chmod 500 closed; ./post-span.sh mine',
  ),
  'post-span.sh': POST_SPAN,
});
const ends = [];
for (const _ of [1, 2]) {
  const { result, log, spans } = await bench.submit(buildRequest(commit, { run: ['ci/run.sh'] })).ended;
  ends.push({ result: result.result, log, spans: spans.map(({ name }) => name) });
}
process.stdout.write(
  JSON.stringify({
    uid: process.getuid?.(),
    report: bench.executor.sandboxReport,
    isolated: bench.executor.isolated,
    ends,
  }),
);
