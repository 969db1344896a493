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
export async function* benchPatchsetLatency(): AsyncGenerator<Row> {
  yield* await firstSteps('http', 0);
  yield* await firstSteps('http', HOST_MS);
  yield* await firstSteps('ssh', HOST_MS);
  yield* await requestsOfOne();
}

async function firstSteps(asked: 'http' | 'ssh', hostMs: number): Promise<readonly Row[]> {
  await using world = await openGerritWorld({ asked });
  slow(world, hostMs);
  world.free();
  const rounds: FirstStep[] = [];
  for (let round = 0; round < PUSHED + WARM_UP; round++) rounds.push(await firstStep(world));
  const counted = rounds.slice(WARM_UP);
  const steps = counted.map(({ step }) => step);
  const playbooks = counted.map(({ playbook }) => playbook);
  const host = `a host that takes ${hostMs} ms${asked === 'ssh' ? ', over SSH alone' : ''}`;
  return [
    { name: `patch set → first job step, ${host}, p50`, value: percentile(steps, 50), unit: 'ms' },
    { name: '  slowest', value: Math.max(...steps), unit: 'ms' },
    {
      name: '  until the playbook was started, by its span, p50',
      value: percentile(playbooks, 50),
      unit: 'ms',
    },
  ];
}

function slow({ gerrit }: GerritWorld, ms: number): void {
  if (ms > 0) gerrit.faults.add({ times: Number.POSITIVE_INFINITY, does: { kind: 'late', ms } });
}

async function requestsOfOne(): Promise<readonly Row[]> {
  await using world = await openGerritWorld({});
  const { gerrit } = world;
  slow(world, HOST_MS);
  world.free();
  await world.leaves(await world.push(), 'SUCCESS', 'check');
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

interface FirstStep {
  readonly step: number;
  readonly playbook: number;
}

/**
 * Milliseconds from the line of the event stream to the job's first word, and to the start of its playbook: the same points as for
 * GitHub's webhook. Gerrit sends the line when it has the patch set, so its work on the push is not counted.
 */
async function firstStep(world: GerritWorld): Promise<FirstStep> {
  const { ssh, stage } = world;
  const send = ssh.stream.hold();
  const change = await world.push();
  const ran = Promise.withResolvers<number>();
  stage.onCall(({ changes }) => {
    if (changes === String(change.number)) ran.resolve(performance.now());
  });
  const begun = performance.now();
  send();
  // Nothing is asked meanwhile: it would take its share of the processors.
  const step = (await ran.promise) - begun;
  await world.leaves(change, 'SUCCESS', 'check');
  const emittedAt = BigInt(Math.round((performance.timeOrigin + begun) * 1e6));
  return { step, playbook: await playbookStart(emittedAt, world) };
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
export async function* benchGerritGates(): AsyncGenerator<Row> {
  for (const submitType of SUBMIT_TYPES) yield* await gate(submitType);
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
