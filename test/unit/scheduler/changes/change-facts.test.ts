import { expect, test } from 'vitest';
import { gitDriver } from '../../../../drivers/git/index.ts';
import type { Driver } from '../../../../src/driver/driver.ts';
import { addMilliseconds, type Nanoseconds, parseNanoseconds } from '../../../../src/lib/clock.ts';
import { derivedUuid } from '../../../../src/lib/ids.ts';
import { type Change, type ChangeRecord, changeKey } from '../../../../src/model/change.ts';
import type { Pipeline } from '../../../../src/model/pipeline.ts';
import { EMPTY_PIPELINE, type PipelineState } from '../../../../src/model/pipeline-state.ts';
import { parseCommitId, projectKey } from '../../../../src/model/project.ts';
import {
  gatherChangeFacts,
  gatheredFrom,
  holdsStill,
} from '../../../../src/scheduler/changes/change-facts.ts';
import { gatePipeline } from '../../../fake/pipeline.ts';
import { World } from '../../pipeline/world.ts';

const NOW = parseNanoseconds('1795000000123456789');
const project = projectKey({ connection: 'local', name: 'acme/app' });
const key = changeKey(project, 'master/login');
const commit = parseCommitId('3f'.repeat(20));
const tenant = { name: 'acme', projects: [], maxJobTimeout: 10_800 };

const record: ChangeRecord = {
  change: {
    kind: 'change',
    key,
    project,
    branch: 'master',
    id: 'master/login',
    patchset: commit,
    commit,
    ref: 'refs/heads/for/master/login',
    subject: 'Log in',
  },
  status: 'open',
  dependsOn: [],
  unresolvedDependencies: [],
  facts: { approved: true, 'current-patchset': true },
  fetchedAt: NOW,
};

function factsWith(driver: Driver, parts: Partial<Pipeline>) {
  const event = { kind: 'change-updated' as const, uuid: derivedUuid('event'), change: key };
  const found = gatherChangeFacts(
    EMPTY_PIPELINE,
    [event],
    {
      tenant,
      pipeline: gatePipeline(parts),
      mergeMode: () => 'squash-merge',
      driverOf: () => driver,
      record: asked => (asked === key ? record : undefined),
      dependentsOf: () => [],
      sameTopic: () => [],
      queueOf: () => null,
    },
    NOW,
  );
  return found.get(key);
}

const place = 'acme/config@master:zuul.yaml:1';

test('a driver with words of its own for rejections is asked with them', () => {
  const driver: Driver = {
    ...gitDriver,
    config: { ...gitDriver.config, rejects: () => ({ met: true, text: 'it has the label hold' }) },
  };
  const reject = [{ connection: 'local', config: { open: false }, definedAt: place }];
  expect(factsWith(driver, { reject })?.requirements).toEqual({
    met: false,
    text: 'rejected: it has the label hold',
  });
  expect(factsWith(gitDriver, { reject })?.requirements.met).toBe(true);
});

test('a driver learns which pipeline of which tenant gives the votes, and how the project merges', () => {
  const driver: Driver = {
    ...gitDriver,
    mergeability: {
      votesOf: (_, { tenant: name, pipeline }) => `${name}/${pipeline}`,
      canLand: (_, { ourVotes, mergeMode }) => ({ met: false, text: `${ourVotes.join()} by ${mergeMode}` }),
    },
  };
  const success = [{ connection: 'local', config: { merge: true }, definedAt: place }];
  const reporters = { ...gatePipeline().reporters, success };
  expect(factsWith(driver, { reporters })?.landing).toEqual({
    met: false,
    text: 'acme/gate by squash-merge',
  });
});

test('a topic counts where the queue of the change or its host has it so', () => {
  const other = changeKey(project, 'master/other');
  const topicOf = (
    byTopic: boolean,
    topic: ChangeRecord['topic'],
    status: ChangeRecord['status'] = 'open',
  ) => {
    const known: ChangeRecord = { ...record, status, ...(topic === undefined ? {} : { topic }) };
    const found = gatherChangeFacts(
      EMPTY_PIPELINE,
      [{ kind: 'change-updated', uuid: derivedUuid('event'), change: key }],
      {
        tenant,
        pipeline: gatePipeline({}),
        mergeMode: () => 'merge',
        driverOf: () => gitDriver,
        record: asked => (asked === key ? known : { ...record, change: { ...record.change, key: other } }),
        dependentsOf: () => [],
        sameTopic: () => [key, other],
        queueOf: () => ({ key: 'q', name: 'q', allowsCycles: true, byTopic }),
      },
      NOW,
    );
    return { topic: found.get(key)?.topic, reached: [...found.keys()] };
  };
  const whole = { name: 'login', landsWhole: true };
  const apart = { name: 'login', landsWhole: false };
  const counts = { topic: { name: 'login', changes: [key, other] }, reached: [key, other] };
  expect(topicOf(false, whole)).toEqual(counts);
  expect(topicOf(true, apart)).toEqual(counts);
  const alone = { topic: undefined, reached: [key] };
  for (const found of [topicOf(false, apart), topicOf(true, undefined), topicOf(true, whole, 'merged')])
    expect(found).toEqual(alone);
  expect(topicOf(true, { ...apart, isTooLarge: true })).toEqual({
    topic: { name: 'login', changes: null },
    reached: [key],
  });
});

function stateWith(change: Change): PipelineState {
  const world = new World();
  world.change('A', { project: 'app' });
  const gate = world.pipeline('gate', { manager: 'dependent' });
  gate.enqueue('A');
  const items = [...gate.state.items].map(([uuid, item]) => [uuid, { ...item, changes: [change] }] as const);
  return { ...gate.state, items: new Map(items) };
}

test('facts that still hold are the same object, and so are all of them', () => {
  const needed = changeKey(project, 'master/needed');
  const records = new Map([
    [key, { ...record, dependsOn: [needed] }],
    [needed, { ...record, change: { ...record.change, key: needed } }],
  ]);
  let dependents = [changeKey(project, 'master/a'), changeKey(project, 'master/b')];
  const judge = {
    ...gitDriver.config,
    recheckAt: (_: unknown, { change }: ChangeRecord) => (change.key === needed ? later(10) : null),
  };
  const require = [{ connection: 'local', config: { open: true }, definedAt: place }];
  const later = (ms: number) => addMilliseconds(NOW, ms);
  const state = stateWith(record.change);
  const gather = (at: Nanoseconds, known?: ReturnType<typeof gatherChangeFacts>, asked?: typeof key) =>
    gatherChangeFacts(
      state,
      asked === undefined ? [] : [{ kind: 'change-updated', uuid: derivedUuid('event'), change: asked }],
      {
        tenant,
        pipeline: gatePipeline({ manager: 'dependent', require }),
        mergeMode: () => 'merge',
        driverOf: () => ({ ...gitDriver, config: judge }),
        record: name => records.get(name),
        dependentsOf: name => (name === needed ? dependents : []),
        sameTopic: () => [],
        queueOf: () => null,
      },
      at,
      known,
    );
  const first = gather(NOW);
  expect(gather(later(9), first)).toBe(first);
  const renewed = (found: typeof first) =>
    [...found].flatMap(([name, facts]) => (first.get(name) === facts ? [] : [name]));
  expect(renewed(gather(later(10), first))).toEqual([needed]);
  expect(renewed(gather(NOW, first, key))).toEqual([key]);
  dependents = dependents.slice(1);
  expect(renewed(gather(NOW, first))).toEqual([needed]);
  records.set(key, { ...record });
  const apart = gather(NOW, first);
  expect([renewed(apart), [...apart.keys()]]).toEqual([[key], [key]]);
});

test('facts are gathered again after any change of a record, of the queues or of a verdict by time, and for an event', () => {
  const state = stateWith(record.change);
  const later = (ms: number) => addMilliseconds(NOW, ms);
  const requirements = { met: true, text: 'approved' };
  const facts = { record, requirements, dependents: [], queue: null, connectionAllowed: true };
  const other = changeKey(project, 'master/other');
  const gathered = gatheredFrom(
    state,
    new Map([
      [key, { ...facts, requirements: { ...requirements, recheckAt: later(20) } }],
      [other, { ...facts, requirements: { ...requirements, recheckAt: later(10) } }],
    ]),
    3,
  );
  const updated = { kind: 'change-updated' as const, uuid: derivedUuid('event'), change: key };
  expect(holdsStill(gathered, { ...state }, [], { mark: 3, now: later(9) })).toBe(true);
  expect(holdsStill(gathered, state, [], { mark: 4, now: later(9) })).toBe(false);
  expect(holdsStill(gathered, state, [], { mark: 3, now: later(10) })).toBe(false);
  expect(holdsStill(gathered, state, [updated], { mark: 3, now: NOW })).toBe(false);
  expect(holdsStill(gathered, { ...state, queues: [] }, [], { mark: 3, now: NOW })).toBe(false);
});
