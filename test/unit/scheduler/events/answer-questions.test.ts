/** Questions of people, from the store to the host. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { AnswerOutcome, AnswerRequest } from '../../../../src/driver/answerer.ts';
import { addMilliseconds } from '../../../../src/lib/clock.ts';
import { derivedUuid, randomIds } from '../../../../src/lib/ids.ts';
import { questionCodec, spansCodec } from '../../../../src/model/codec/records.ts';
import type { Question } from '../../../../src/model/question.ts';
import type { SpanRecord } from '../../../../src/model/span.ts';
import type { ChangeCache } from '../../../../src/scheduler/changes/change-cache.ts';
import { type AnswerDeps, answerQuestions } from '../../../../src/scheduler/events/answer-questions.ts';
import { type EmbeddedStore, openEmbeddedStore } from '../../../../src/store/embedded/server.ts';
import { ensureNode } from '../../../../src/store/ensure-node.ts';
import { EventQueue } from '../../../../src/store/event-queue.ts';
import { acquireFence } from '../../../../src/store/fence.ts';
import { storePaths } from '../../../../src/store/paths.ts';
import { rootSpanOf } from '../../../../src/tracing/span-ids.ts';
import { eventually } from '../../../conformance/store/eventually.ts';
import { at, proposedChange } from '../../../fake/queue-item.ts';

const paths = storePaths('/gatehouse');
const places = paths.connection('local');
const ids = randomIds();
const origin = { span: rootSpanOf(derivedUuid('a comment')), sampled: true };
const change = proposedChange('master/login');
const other = proposedChange('master/logout');

let server: EmbeddedStore;
let asked: AnswerRequest[];
let warnings: string[];
/** What the host says next; then it takes everything. */
let outcomes: (AnswerOutcome | Error)[];
let explained: number;
let now: ReturnType<typeof at>;

beforeEach(() => {
  server = openEmbeddedStore({ file: ':memory:' });
  [asked, warnings, outcomes, explained, now] = [[], [], [], 0, at(100)];
});
afterEach(() => server.close());

async function open(more: Partial<AnswerDeps> = {}) {
  const store = server.connect();
  const clock = { now: () => now, monotonic: () => 0 };
  const questions = new EventQueue<Question>({ store, path: places.questions, codec: questionCodec, clock });
  await questions.prepare();
  for (const path of [places.election, paths.spanOutbox, paths.historyOutbox]) await ensureNode(store, path);
  const log = { info() {}, warn: (_: object, text: string) => warnings.push(text) };
  const known = [change, other];
  const deps: AnswerDeps = {
    connection: { name: 'local' },
    answerer: {
      async answer(request) {
        asked.push(request);
        const outcome = outcomes.shift() ?? { kind: 'done' };
        if (outcome instanceof Error) throw outcome;
        return outcome;
      },
    },
    async explain({ key }, tenants) {
      explained += 1;
      return `${key} of ${tenants.join(' ')}: answer ${explained}`;
    },
    changes: {
      fresh: async () => {},
      record: (key: string) => known.flatMap(each => (each.key === key ? [{ change: each }] : []))[0],
    } as unknown as ChangeCache,
    tenantsOf: () => [{ tenant: 'acme' }],
    outsideShadow: async tenants => tenants,
    ...{ paths, tracing: { spans: () => ({ names: 'gatehouse' as const }) } },
    ...{ questions, clock, ids, log: log as unknown as AnswerDeps['log'], ...more },
  };
  return {
    async ask(by: string, { key } = change) {
      await store.multi(questions.put({ change: key, by, askedAt: now, origin }));
    },
    /** Spans that were written with what ended a question. */
    async spans(): Promise<readonly SpanRecord[]> {
      const spans: SpanRecord[] = [];
      for (const name of (await store.children(paths.spanOutbox)) ?? []) {
        const node = await store.get(`${paths.spanOutbox}/${name}`);
        if (node !== undefined) spans.push(...spansCodec.decode(node.data));
      }
      return spans;
    },
    /** At the same moment. */
    async askTogether(...people: readonly string[]) {
      await store.multi(
        people.flatMap(by => questions.put({ change: change.key, by, askedAt: now, origin })),
      );
    },
    isEmpty: () => eventually(async () => expect(await questions.depth()).toBe(0)),
    /** Another process takes over. @returns how it is stopped. */
    async run() {
      const stop = new AbortController();
      const fence = await acquireFence(store, {
        ...{ lockPath: places.election, epochPath: places.epoch },
        ...{ lastOperationPath: places.lastOperation, guid: ids.uuid(), signal: stop.signal },
      });
      const ended = answerQuestions(deps, fence, stop.signal);
      return async () => {
        stop.abort(new Error('the end'));
        await ended.catch(error => expect(error).toBe(stop.signal.reason));
        await fence[Symbol.asyncDispose]();
      };
    },
  };
}

test('questions that wait are one answer for each change, to who asked last', async () => {
  const desk = await open();
  for (const by of ['ann', 'bob', 'carl']) await desk.ask(by);
  await desk.ask('dora', other);
  const stop = await desk.run();
  await desk.isEmpty();
  expect(asked).toEqual([
    { change, by: 'carl', text: `${change.key} of acme: answer 1` },
    { change: other, by: 'dora', text: `${other.key} of acme: answer 2` },
  ]);
  await stop();
});

test('a change that was just answered rests, and then its next questions are one answer, too', async () => {
  const desk = await open({ rest: 50 });
  const stop = await desk.run();
  await desk.ask('ann');
  await eventually(() => expect(asked).toHaveLength(1));
  const answeredAt = performance.now();
  await desk.askTogether('bob', 'carl');
  await desk.isEmpty();
  expect(asked.map(({ by }) => by)).toEqual(['ann', 'carl']);
  expect(performance.now() - answeredAt).toBeGreaterThan(30);
  await stop();
});

test('a host that does not serve is asked again, also by the process after', async () => {
  const desk = await open();
  const later = {
    kind: 'later',
    reason: 'limited',
    text: 'a limit',
    notBefore: addMilliseconds(now, 60_000),
  } as const;
  outcomes = [later];
  await desk.ask('ann');
  const stop = await desk.run();
  await eventually(() => expect(asked).toHaveLength(1));
  await stop();
  outcomes = [new Error('the answer was lost')];
  const end = await desk.run();
  await desk.isEmpty();
  expect(asked).toHaveLength(3);
  expect(warnings).toEqual([]);
  const spans = await desk.spans();
  expect(spans.map(({ name }) => name)).toEqual(['HostAnswer local']);
  expect(spans[0]?.attributes).toMatchObject({ 'gatehouse.by': 'ann', 'gatehouse.attempt_count': 2 });
  await end();
});

test('a question is given up when the host refuses it, when it is an hour old, or about a change that is gone', async () => {
  const desk = await open();
  await desk.ask('ann', proposedChange('master/gone'));
  await desk.ask('bob', other);
  now = addMilliseconds(now, 3_600_001);
  await desk.ask('carl');
  outcomes = [
    { kind: 'later', reason: 'unreachable', text: 'no route' },
    { kind: 'failed', text: 'the conversation is locked' },
  ];
  const stop = await desk.run();
  await desk.isEmpty();
  expect(warnings).toEqual([
    'a question is not answered: the change is not known any more',
    'a question is not answered: no route',
    'a question is not answered: the conversation is locked',
  ]);
  const ended = (await desk.spans()).map(({ attributes }) => [
    attributes['gatehouse.by'],
    attributes['gatehouse.reason'],
  ]);
  expect(ended.toSorted()).toEqual([
    ['ann', 'failed'],
    ['bob', 'host'],
    ['carl', 'failed'],
  ]);
  await stop();
});

test('no question is answered while all tenants of the change are in shadow mode', async () => {
  const desk = await open({ outsideShadow: async () => [] });
  await desk.ask('ann');
  const stop = await desk.run();
  await desk.isEmpty();
  expect(asked).toEqual([]);
  expect(warnings).toEqual(['a question is not answered: acme: in shadow mode']);
  await stop();
});
