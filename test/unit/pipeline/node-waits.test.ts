/** A build that runs on hosts: what its item waits for, and the spans of that, however late a scheduler reads what happened. */
import { beforeEach, describe, expect, it } from 'vitest';
import { explainItem } from '../../../src/explain/explain.ts';
import { addMilliseconds, type Nanoseconds } from '../../../src/lib/clock.ts';
import { between, sum } from '../../../src/lib/time-window.ts';
import type { PipelineEvent } from '../../../src/model/event.ts';
import { jobStandings, waitText } from '../../../src/model/job-standing.ts';
import { nodesGranted, nodesReturned, nodesWanted } from '../../../src/model/node-events.ts';
import { labelsText } from '../../../src/model/node-wait.ts';
import type { QueueItem } from '../../../src/model/queue-item.ts';
import type { WantedNodes } from '../../../src/model/static-host.ts';
import { endedSpans, itemSpans } from '../../../src/tracing/spans/item-spans.ts';
import { asArrived, checkTraces } from '../../fake/check-traces.ts';
import { job, type PendingBuild, type PipelineWorld, World } from './world.ts';

let world: World;
let gate: PipelineWorld;
let build: PendingBuild;

const LABELS = ['debian', 'arm', 'debian'];

function wantedBy({ item, buildset }: PendingBuild): WantedNodes {
  const nodes = LABELS.map((label, index) => ({ name: `node${index}`, label }));
  return {
    tenant: 'main',
    of: { pipeline: 'gate', item: item.uuid, buildset },
    requestedAt: world.now,
    nodes,
  };
}
const wanted = () => nodesWanted(build.build, wantedBy(build), world.now);
const granted = (time: Nanoseconds = world.now): PipelineEvent =>
  nodesGranted(build.build, wantedBy(build), {
    at: time,
    hosts: LABELS.map((_, index) => ({ node: `node${index}`, host: `host${index}` })),
  });
const returned = (time: Nanoseconds = world.now) =>
  nodesReturned(build.build, wantedBy(build), time, 'host1: it does not answer');

/** What the item did: the state, with milliseconds since the build was requested. */
function states(): readonly string[] {
  const { timeline } = gate.item('A');
  const from = timeline.findIndex(({ since }) => since === requested());
  return timeline.slice(from).map(({ state, since, subject }) => {
    const ms = Number(BigInt(since) - BigInt(requested())) / 1e6;
    return `${state} ${ms}${subject === undefined ? '' : ` ${subject}`}`;
  });
}
function requested(): Nanoseconds {
  const found = gate.item('A').buildset.builds.find(({ uuid }) => uuid === build.build);
  if (found === undefined) throw new Error('the build is gone');
  return found.requestedAt;
}
const at = (ms: number) => addMilliseconds(requested(), ms);

function request(jobs = [job('unit')]): void {
  world.jobs('app', jobs);
  world.change('A', { project: 'app' });
  gate.enqueue('A');
  gate.turn([gate.mergeEvent(gate.merges[0]!)]);
  build = gate.builds[0]!;
}

beforeEach(() => {
  world = new World();
  gate = world.pipeline('gate', { manager: 'dependent' });
});

describe('an item whose build runs on hosts', () => {
  it('waits for nodes until they are granted, then for an executor, and again when they were given back', () => {
    request();
    expect(states()).toEqual(['executor 0']);
    gate.turn([wanted()]);
    expect(states()).toEqual(['nodes 0 2 × debian, arm']);
    const standing = jobStandings(gate.item('A').buildset).get('unit');
    expect(standing && waitText(standing)).toBe('nodes: 2 × debian, arm');
    world.pass(1000);
    gate.turn([granted(at(400))]);
    expect(states()).toEqual(['nodes 0 2 × debian, arm', 'executor 400']);
    gate.turn([returned(at(600))]);
    expect(states().slice(1)).toEqual(['executor 400', 'nodes 600 2 × debian, arm']);
    world.pass(1000);
    gate.turn([granted(at(900)), gate.startEvent(build, at(950))]);
    expect(states().slice(2)).toEqual(['nodes 600 2 × debian, arm', 'executor 900', 'running 950']);
  });

  it('has begun no earlier than its hosts were granted, even where the clock of its executor is slow', () => {
    request();
    gate.turn([wanted()]);
    world.pass(1000);
    gate.turn([granted(at(500)), gate.startEvent(build, at(200))]);
    expect(states()).toEqual(['nodes 0 2 × debian, arm', 'running 500']);
  });

  it('waits for an executor while another build of it does', () => {
    request([job('unit'), job('lint')]);
    gate.turn([wanted()]);
    expect(states()).toEqual(['executor 0']);
    const lint = gate.builds[1]!;
    gate.turn([gate.startEvent(lint)]);
    gate.turn([gate.resultEvent(lint, 'SUCCESS')]);
    expect(gate.item('A').timeline.at(-1)?.state).toBe('nodes');
  });

  it('ignores what is said of the hosts of a build that has begun', () => {
    request();
    gate.turn([wanted()]);
    gate.turn([granted()]);
    gate.turn([gate.startEvent(build)]);
    const { ignored } = gate.turn([wanted(), granted(), returned()]);
    expect(ignored.map(({ text }) => text.split(' of unit')[0])).toEqual([
      'a wait for nodes',
      'a grant of nodes',
      'a return of nodes',
    ]);
  });

  it('has spans of each wait, sent once and as they stay, and its states add up to its time', () => {
    request([job('unit'), job('lint')]);
    gate.turn([wanted()]);
    const lint = gate.builds[1]!;
    gate.turn([gate.startEvent(lint)]);
    world.pass(300);
    gate.turn([gate.resultEvent(lint, 'SUCCESS')]);
    world.pass(100);
    gate.turn([granted()]);
    world.pass(100);
    gate.turn([returned()]);
    world.pass(100);
    gate.turn([granted()]);
    world.pass(100);
    gate.turn([gate.startEvent(build)]);
    world.pass(100);
    gate.turn([gate.resultEvent(build, 'SUCCESS')]);
    gate.turn([gate.reportEvent(gate.reports[0]!)]);
    const [item] = gate.left;
    if (item === undefined) throw new Error('it is still there');
    const spans = itemSpans(item);
    expect(checkTraces(spans.map(asArrived))).toEqual([]);
    const ofBuild = spans.filter(({ attributes }) => attributes['gatehouse.build.id'] === build.build);
    expect(
      ofBuild.map(({ name, attributes }) =>
        [name, attributes['gatehouse.result'], attributes['gatehouse.executor_queue.outcome']]
          .filter(each => each !== undefined)
          .join(' '),
      ),
    ).toEqual([
      'Build unit SUCCESS',
      'RequestNodes unit SUCCESS',
      'ExecutorQueue handed-back',
      'RequestNodes unit SUCCESS',
      'ExecutorQueue taken',
      'JobExecution unit SUCCESS',
    ]);
    expect(ofBuild[1]?.attributes).toMatchObject({
      'gatehouse.labels': LABELS,
      'gatehouse.nodes.hosts': ['host0', 'host1', 'host2'],
      'gatehouse.nodes.provider': 'static',
    });
    expect(sentOf(item)).toEqual(spans.toSorted(bySpan));
    const explained = explainItem(item, world.now);
    expect(sum(explained.stretches.map(({ duration }) => duration))).toBe(
      between(item.enqueuedAt, explained.until),
    );
    expect(sum(explained.criticalPath.map(({ duration }) => duration))).toBe(explained.duration);
    expect(explained.criticalPath.map(({ text }) => text)).toContain(
      'unit waited for nodes: 2 × debian, arm',
    );
    expect(explained.totals.find(({ state }) => state === 'nodes')?.duration).toBe(
      sum(explained.stretches.flatMap(({ state, duration }) => (state === 'nodes' ? [duration] : []))),
    );
  });

  it('waits for nodes again when its executor is lost amid the wait, and the first wait stays as it was sent', () => {
    request();
    gate.turn([wanted()]);
    world.pass(500);
    const from = requested();
    gate.turn([gate.lostEvent(build, world.now)]);
    build = gate.builds.at(-1)!;
    const again = requested();
    // It is known to need nodes from the very moment of its request.
    gate.turn([wanted()]);
    world.pass(100);
    gate.turn([granted()]);
    world.pass(100);
    gate.turn([gate.startEvent(build)]);
    gate.turn([gate.resultEvent(build, 'SUCCESS')]);
    gate.turn([gate.reportEvent(gate.reports[0]!)]);
    const [item] = gate.left;
    if (item === undefined) throw new Error('it is still there');
    const waits = item.timeline.filter(({ state }) => state === 'nodes').map(({ since }) => since);
    expect(waits).toEqual([from, again]);
    expect(sentOf(item)).toEqual(itemSpans(item).toSorted(bySpan));
  });

  it('whose build ends while it waits has a wait that ends with it', () => {
    request();
    gate.turn([wanted()]);
    world.pass(100);
    world.get('A').status = 'abandoned';
    gate.updated('A');
    const [item] = gate.left;
    if (item === undefined) throw new Error('it is still there');
    const spans = itemSpans(item);
    expect(checkTraces(spans.map(asArrived))).toEqual([]);
    const [wait] = spans.filter(({ name }) => name.startsWith('RequestNodes'));
    expect(wait?.attributes['gatehouse.result']).toBe('CANCELED');
    expect(spans.filter(({ name }) => name.startsWith('ExecutorQueue'))).toEqual([]);
  });
});

const bySpan = (a: { spanId: string }, b: { spanId: string }) => (a.spanId < b.spanId ? -1 : 1);

/** Spans in the order of their ids, as the turns sent them. */
function sentOf({ uuid }: QueueItem) {
  const versions = gate.history.map(({ output }) => output.state.items.get(uuid) ?? output.left[0]);
  return versions
    .flatMap((version, index) => (version === undefined ? [] : endedSpans(versions[index - 1], version)))
    .toSorted(bySpan);
}

describe('labels', () => {
  it('are named once each, and not without end', () => {
    expect(labelsText(['a', 'b', 'a'])).toBe('2 × a, b');
    expect(labelsText(Array.from({ length: 1000 }, (_, at) => `label${at}`))).toBe(
      'label0, label1, label2, label3, label4, 995 more',
    );
  });
});
