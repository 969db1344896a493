/**
 * Check 12: every playbook process, and every step in it, gets its own span: the one that is exported later, another one at each
 * retry. It gets nothing else that matters: no headers of the collector, nothing of the service's environment. What it hands in
 * itself by OTLP lands below it. The real service; jobs run without a sandbox, as in all stories.
 */
import { afterEach, expect, vi } from 'vitest';
import type { SinkSpan } from '../fake/otlp-sink.ts';
import { POST_SPAN } from '../fake/post-span.ts';
import { layoutWith } from '../scenario/layouts.ts';
import { story } from '../scenario/story.ts';
import type { World } from '../scenario/world.ts';
import { kindOf } from './spans-by.ts';

const layout = layoutWith(`
- job:
    name: prints
    attempts: 2
    pre-run: [playbooks/print.sh, playbooks/flaky.sh]
    run: playbooks/work.sh
    post-run: playbooks/print.sh
- project:
    name: org/project
    gate: {jobs: [prints]}
`);
const print = (place: string) => `echo "CONTEXT ${place} $(env | sort | tr '\\n' '|')"`;
const configFiles = {
  'playbooks/print.sh': `#!/bin/sh\n${print('playbook')}\n`,
  'playbooks/flaky.sh': '#!/bin/sh\n[ "$ZUUL_ATTEMPT" = 2 ]\n',
  'playbooks/work.sh': `#!/bin/sh
set -eu
${print('playbook')}
gatehouse step outer -- gatehouse step inner -- "$(dirname "$0")/within.sh"
"$(dirname "$0")/post-span.sh" beside
`,
  'playbooks/within.sh': `#!/bin/sh\n${print('step')}\nexec "$(dirname "$0")/post-span.sh" within\n`,
  'playbooks/post-span.sh': POST_SPAN,
};
/** What the service may have in its environment, and no job may see. */
const PLANTED = { OTEL_EXPORTER_OTLP_HEADERS: 'authorization=canary-1', GATEHOUSE_CANARY: 'canary-2' };
for (const [name, value] of Object.entries(PLANTED)) vi.stubEnv(name, value);
afterEach(() => vi.unstubAllEnvs());

interface JobContext {
  readonly place: string;
  readonly environment: ReadonlyMap<string, string>;
  /** Parts of TRACEPARENT. */
  readonly trace: string;
  readonly span: string;
  readonly flags: string;
}

function contextsIn(log: string): readonly JobContext[] {
  return [...log.matchAll(/CONTEXT (\w+) (.*)/g)].map(([, place = '', text = '']) => {
    const environment = new Map(
      text.split('|').map(line => {
        const at = line.indexOf('=');
        return [line.slice(0, at), line.slice(at + 1)] as const;
      }),
    );
    const [, trace = '', span = '', flags = ''] =
      /^00-([0-9a-f]{32})-([0-9a-f]{16})-(0[13])$/.exec(environment.get('TRACEPARENT') ?? '') ?? [];
    return { place, environment, trace, span, flags };
  });
}

story(
  'check 12: a job gets its span in every playbook and step, another at each retry, and no secret',
  { layout, configFiles, executor: ['otlp_relay = true'] },
  async world => {
    world.free();
    await world.propose('A');
    await world.approve('A');
    const { uuid } = await world.leaves('A', 'SUCCESS');
    const arrived = (name: string) => world.sink.spans.find(span => span.name === name);
    await world.observer.until('the trace, and what the job handed in', () =>
      [`QueueItem gate`, 'within', 'beside'].every(start =>
        world.sink.spans.some(span => span.traceId === uuid && span.name.startsWith(start)),
      ),
    );
    const { spans } = world.sink;
    const builds = spans.filter(span => kindOf(span) === 'Build' && span.traceId === uuid);
    expect(builds).toHaveLength(2);
    const logs = await Promise.all(builds.map(build => logOf(world, build)));
    const contexts = logs.flatMap(contextsIn);
    // Attempt 1: pre-run, post-run. Attempt 2: pre-run, run and the step in it, post-run.
    expect(contexts.map(({ place }) => place).toSorted()).toEqual([...Array(5).fill('playbook'), 'step']);
    for (const each of contexts) expectRight(each, uuid, spans);
    expect(new Set(contexts.map(({ span }) => span)).size).toBe(contexts.length);

    const step = contexts.find(({ place }) => place === 'step');
    expect(arrived('within')).toMatchObject({ traceId: uuid, parentSpanId: step?.span });
    const work = spans.find(span => span.name === 'Playbook playbooks/work.sh');
    expect(arrived('beside')).toMatchObject({ traceId: uuid, parentSpanId: work?.spanId });
    expect(below(spans, work).map(({ name }) => name)).toEqual(['ScriptStep outer', 'beside']);
    expect(logs.join('\n')).not.toMatch(/canary|token of the scenario/);
  },
);

function logOf(world: World, build: SinkSpan): Promise<string> {
  return world.api.text(`/api/tenant/tenant-one/build/${build.attributes['gatehouse.build.id']}/log`);
}

function below(spans: readonly SinkSpan[], parent: SinkSpan | undefined): readonly SinkSpan[] {
  return spans
    .filter(({ parentSpanId }) => parentSpanId === parent?.spanId)
    .toSorted((a, b) => Number(a.start - b.start));
}

function expectRight(
  { place, environment, trace, span, flags }: JobContext,
  item: string,
  spans: readonly SinkSpan[],
): void {
  expect([trace, flags]).toEqual([item, '01']);
  const own = spans.find(each => each.spanId === span && each.traceId === trace);
  expect(own?.attributes['gatehouse.span.type']).toBe(place === 'step' ? 'ScriptStep' : 'Playbook');
  if (place === 'step') expect(own?.name).toBe('ScriptStep inner');
  expect(environment.get('TRACESTATE')).toMatch(/^ot=rv:[0-9a-f]{14}$/);
  expect(membersOf(environment.get('BAGGAGE'))).toEqual({
    'gatehouse.tenant': 'tenant-one',
    'gatehouse.pipeline': 'gate',
    'gatehouse.item.id': item,
    'gatehouse.buildset.id': own?.attributes['gatehouse.buildset.id'],
    'gatehouse.build.id': own?.attributes['gatehouse.build.id'],
    'gatehouse.job': 'prints',
  });
  expect(environment.get('OTEL_SERVICE_NAME')).toBe('prints');
  expect(environment.get('OTEL_RESOURCE_ATTRIBUTES')).toContain('cicd.pipeline.task.name=prints');
  const names = [...environment.keys()].filter(name => name.startsWith('OTEL_'));
  expect(names.filter(name => /HEADERS/.test(name))).toEqual([]);
}

/** Of a `baggage` header, by name; one that comes twice is no baggage we send. */
function membersOf(baggage = ''): { readonly [name: string]: string } {
  const members = baggage.split(',').map(member => {
    const at = member.indexOf('=');
    return [member.slice(0, at), decodeURIComponent(member.slice(at + 1))] as const;
  });
  expect(new Set(members.map(([name]) => name)).size).toBe(members.length);
  return Object.fromEntries(members);
}
