/** The real service with the real driver at the fake Gerrit: a patch set → the first job step, and a gate of 20 with each submit type. */
import { setTimeout as delay } from 'node:timers/promises';
import type { FakeGerrit } from '../gerrit/fake/fake-gerrit.ts';
import type { FakeChange, FakeSubmitType } from '../gerrit/fake/world.ts';
import { gerritLayout } from '../gerrit/stories/gerrit-layout.ts';
import { type GerritWorld, openGerritWorld } from '../gerrit/stories/gerrit-world.ts';
import type { Row } from './main.ts';
import { percentile } from './webhook.ts';

/** Milliseconds in which the fake answers. */
const HOST_MS = 50;
const PUSHED = 12;
const WARM_UP = 2;
const GATE = 20;

const SUBMIT_TYPES: readonly FakeSubmitType[] = [
  'MERGE_IF_NECESSARY',
  'MERGE_ALWAYS',
  'REBASE_IF_NECESSARY',
  'REBASE_ALWAYS',
  'CHERRY_PICK',
  'FAST_FORWARD_ONLY',
];

/** Oracle: each change is checked, and one lands. */
export async function benchPatchsetLatency(): Promise<readonly Row[]> {
  await using world = await openGerritWorld({});
  const { gerrit } = world;
  gerrit.faults.add({ times: Number.POSITIVE_INFINITY, does: { kind: 'late', ms: HOST_MS } });
  world.free();
  const rounds: Awaited<ReturnType<typeof firstStep>>[] = [];
  for (let round = 0; round < PUSHED + WARM_UP; round++) rounds.push(await firstStep(world));
  rounds.splice(0, WARM_UP);
  const steps = rounds.map(({ step }) => step);
  const from = gerrit.requests.length;
  const change = await world.push();
  await world.leaves(change, 'SUCCESS', 'check');
  await world.approve(change);
  await world.leaves(change, 'SUCCESS');
  if (change.now.status !== 'MERGED') throw new Error('the change did not land');
  const requests = gerrit.requests.slice(from).map(kindOf);
  const isGit = (operation: string) => operation.startsWith('git/');
  return [
    {
      name: `patch set → first job step, a host that takes ${HOST_MS} ms, p50`,
      value: percentile(steps, 50),
      unit: 'ms',
    },
    { name: 'patch set → first job step, slowest', value: Math.max(...steps), unit: 'ms' },
    {
      name: '  of it until the playbook was started, by its span, p50',
      value: percentile(
        rounds.map(({ playbook }) => playbook),
        50,
      ),
      unit: 'ms',
    },
    {
      name: 'one change, pushed → submitted',
      value: requests.filter(each => !isGit(each)).length,
      unit: 'REST requests',
    },
    ...[...Map.groupBy(requests, each => each)].map(([operation, { length }]) => ({
      name: `  ${operation}`,
      value: length,
      unit: isGit(operation) ? 'git requests' : 'REST requests',
    })),
  ];
}

/** Milliseconds from the event to the job's first word, which is behind two processes of its own, and to the start of its playbook. */
async function firstStep(world: GerritWorld): Promise<{ readonly step: number; readonly playbook: number }> {
  const { gerrit, stage } = world;
  const emitted = new Map<number, number>();
  const ran = new Map<string, number>();
  const stop = gerrit.world.onEvent(({ json }) => {
    const { type, change } = json as {
      readonly type?: unknown;
      readonly change?: { readonly number: number };
    };
    if (type === 'patchset-created' && change !== undefined) emitted.set(change.number, performance.now());
  });
  stage.onCall(({ changes }) => {
    if (!ran.has(changes)) ran.set(changes, performance.now());
  });
  const change = await world.push();
  await world.leaves(change, 'SUCCESS', 'check');
  stop();
  const [begun, step] = [emitted.get(change.number), ran.get(String(change.number))];
  if (begun === undefined || step === undefined) throw new Error(`change ${change.number} ran no job`);
  const emittedAt = BigInt(Math.round((performance.timeOrigin + begun) * 1e6));
  return { step: step - begun, playbook: await playbookStart(emittedAt, world) };
}

/** Spans come some time after they ended. */
async function playbookStart(emittedAt: bigint, { sink }: GerritWorld): Promise<number> {
  for (;;) {
    const starts = sink.spans.flatMap(({ name, start }) =>
      name.startsWith('Playbook') ? [BigInt(start)] : [],
    );
    const found = starts.find(start => start > emittedAt);
    if (found !== undefined) return Number(found - emittedAt) / 1e6;
    await delay(50);
  }
}

/** Oracle: 20 are submitted, each tested once in the gate, and the branch holds the files of all. */
export async function benchGerritGates(): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const submitType of SUBMIT_TYPES) rows.push(...(await gate(submitType)));
  return rows;
}

async function gate(submitType: FakeSubmitType): Promise<readonly Row[]> {
  await using world = await openGerritWorld({
    layout: gerritLayout().replaceAll('check: {jobs: [unit]}', 'check: {jobs: []}'),
    project: { submitType },
  });
  const { gerrit, stage } = world;
  const changes: FakeChange[] = [];
  for (let at = 0; at < GATE; at++) {
    // What does not stand on the change before it, no fast-forward lands behind that.
    const before = submitType === 'FAST_FORWARD_ONLY' ? changes.at(-1) : undefined;
    changes.push(await world.push(before === undefined ? {} : { on: before }));
  }
  world.free();
  const from = gerrit.requests.length;
  const begun = performance.now();
  for (const change of changes) await world.approve(change);
  for (const change of changes) await world.leaves(change, 'SUCCESS');
  const seconds = (performance.now() - begun) / 1000;
  const builds = stage.builds.filter(({ pipeline }) => pipeline === 'gate').length;
  if (builds !== GATE) throw new Error(`${submitType}: ${builds} builds for ${GATE} changes`);
  if (changes.some(({ now }) => now.status !== 'MERGED'))
    throw new Error(`${submitType}: not all are merged`);
  const differing = world.log.trouble.filter(line => line.includes('landed-tree-differs'));
  if (differing.length > 0) throw new Error(`${submitType}: ${differing.join('\n')}`);
  const requests = gerrit.requests.slice(from).map(kindOf);
  return [
    { name: `${submitType}: ${GATE} approved → submitted`, value: seconds, unit: 's' },
    {
      name: `${submitType}: of them by REST`,
      value: requests.filter(each => !each.startsWith('git/')).length,
      unit: 'requests',
    },
    {
      name: `${submitType}: of them by git`,
      value: requests.filter(each => each.startsWith('git/')).length,
      unit: 'requests',
    },
  ];
}

/** Each fetch begins with one list of refs, and has one or more exchanges after it. */
function kindOf({ operation, path }: FakeGerrit['requests'][number]): string {
  if (!operation.startsWith('git/')) return operation;
  return `${operation}, ${path.includes('/info/refs') ? 'refs' : 'exchange'}`;
}
