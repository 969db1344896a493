/** Real jobs that hand in spans, isolated and not. */
import { afterAll, describe, expect, test } from 'vitest';
import { isBefore } from '../../../../src/lib/time-window.ts';
import { keyedStepSpanId } from '../../../../src/tracing/span-ids.ts';
import { POST_SPAN } from '../../../fake/post-span.ts';
import { buildRequest, type Ended, openBench, type Scripts, script } from '../fixture.ts';

const RELAY = { spans: 5, bytes: 1_000_000 };

for (const mode of ['auto', 'none'] as const) {
  const bench = await openBench({ sandbox: mode, relay: RELAY });
  afterAll(() => bench[Symbol.asyncDispose]());

  async function commit(bodies: Readonly<Record<string, string>>): Promise<string> {
    const scripts = Object.entries(bodies).map(([name, body]) => [name, script(body)]);
    return bench.commit({ ...Object.fromEntries(scripts), 'post-span.sh': POST_SPAN });
  }

  async function run(
    body: string,
    changes: Parameters<typeof buildRequest>[2] = {},
    more: Scripts = {},
  ): Promise<Ended> {
    const id = await commit({ 'run.sh': body, 'pre.sh': './post-span.sh early' });
    return bench.submit(buildRequest(id, { run: ['run.sh'], ...more }, changes)).ended;
  }

  describe(`a job with the relay and ${bench.executor.isolated ? 'bubblewrap' : 'no sandbox'} (sandbox = ${mode})`, () => {
    test('hands in spans from its first moment on: below its playbook, and below its steps', async () => {
      const { result, log, spans } = await run(
        "./post-span.sh plain; echo given $TRACEPARENT; gatehouse step 'a step' -- ./post-span.sh inside",
        {},
        { preRun: ['pre.sh'] },
      );
      expect(result.result).toBe('SUCCESS');
      expect(log.match(/\| HTTP\/1\.1 200 OK/g)).toHaveLength(3);
      expect(log).toContain('# spans of the job: 3 taken');
      const parentOf = (name: string) => spans.find(span => span.name === name)?.parent;
      const given = /given 00-([0-9a-f]{32})-([0-9a-f]{16})-01/.exec(log);
      expect(parentOf('plain')).toBe(given?.[2]);
      const step = result.execution?.steps.find(({ subject }) => subject === 'run.sh')?.steps?.[0];
      expect(step).toMatchObject({ subject: 'a step', result: 'SUCCESS' });
      expect(parentOf('inside')).toBe(keyedStepSpanId(parentOf('plain')!, step?.key ?? ''));
      expect(new Set([parentOf('early'), parentOf('plain'), parentOf('inside')]).size).toBe(3);
      for (const span of spans) {
        expect(span).toMatchObject({
          traceId: given?.[1],
          resource: { 'service.name': 'unit' },
          scope: 'script',
          attributes: { answer: 42, 'gatehouse.span.type': 'JobSpan', 'gatehouse.tenant': 'acme' },
        });
        expect(span.attributes).not.toHaveProperty('gatehouse.result');
        expect(isBefore(span.start, result.execution!.startedAt)).toBe(false);
        expect(isBefore(result.execution!.endedAt, span.end!)).toBe(false);
      }
    });

    test('learns what was rejected: of another trace, and beyond the quota', async () => {
      const { log, spans } = await run(
        `./post-span.sh foreign '' 00-${'1'.repeat(32)}-${'2'.repeat(16)}-01; for i in 1 2 3 4 5 6; do ./post-span.sh $i; done`,
      );
      expect(log).toMatch(/"rejectedSpans":"1".*TRACEPARENT/);
      expect(log).toMatch(/"rejectedSpans":"1".*otlp_relay_max_spans/);
      expect(log).toContain('spans of the job: 5 taken, not taken: 1 not-below-the-build, 1 over-quota');
      expect(spans).toHaveLength(5);
    });

    test('cannot use an address that is not its own', async () => {
      const { log } = await run(
        `export OTEL_EXPORTER_OTLP_ENDPOINT="\${OTEL_EXPORTER_OTLP_ENDPOINT%?????}00000"; ./post-span.sh stray`,
      );
      expect(log).toContain('| HTTP/1.1 401');
    });

    test('whose trace is not exported gets no address', async () => {
      const body = 'echo "address: $OTEL_EXPORTER_OTLP_ENDPOINT."';
      const { trace } = buildRequest('1'.repeat(40), {});
      for (const changes of [{ trace: null }, { trace: { ...trace!, sampled: false } }])
        expect((await run(body, changes)).log).toContain('| address: .');
    });

    test('that is cancelled keeps the spans it has sent', async () => {
      const id = await commit({ 'run.sh': './post-span.sh before; echo posted; exec sleep 60' });
      const build = bench.submit(buildRequest(id, { run: ['run.sh'] }));
      await build.logHolds('| posted');
      build.cancel();
      const { result, spans } = await build.ended;
      expect(result.result).toBe('CANCELED');
      expect(spans.map(({ name }) => name)).toEqual(['before']);
    });

    test('has neither a channel nor a variable of ours', async () => {
      const { result, log } = await run(
        'env | grep NODE && exit 1; [ ! -e /proc/self/fd/4 ] || exit 2; exit 0',
      );
      expect([result.result, log.includes('NODE')]).toEqual(['SUCCESS', false]);
    });

    test('whose interpreter does not exist fails as without the relay', async () => {
      const id = await bench.commit({ 'run.sh': '#!/no/such/shell\n' });
      const { result } = await bench.submit(buildRequest(id, { run: ['run.sh'] })).ended;
      expect(result.result).toBe('FAILURE');
    });
  });
}
