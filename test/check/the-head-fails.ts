/**
 * The story checks 01 to 05, 07, 08, 21 and 25b look at: three changes in the gate, the first one fails while builds of all three run,
 * and the collector refuses some requests on the way. The builds of the others are stopped, what they test is new.
 */

import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { FinishedItem } from '../../src/api/live-item.ts';
import { type OtlpTraceDocument, spansFromOtlp } from '../../src/cmd/client/spans-from-otlp.ts';
import type { Explanation } from '../../src/explain/explain.ts';
import type { SpanRecord } from '../../src/model/span.ts';
import { decodeJsonRequest, type SinkSpan } from '../fake/otlp-sink.ts';
import { stateOf, TENANT } from '../scenario/site.ts';
import type { World } from '../scenario/world.ts';

const UNAVAILABLE = 14;

/** Decimal nanoseconds. */
export interface Life {
  readonly from: string;
  readonly to: string;
}

export interface HeadFailsStory {
  /** By topic. */
  readonly left: ReadonlyMap<string, FinishedItem>;
  /** By item: the answer of `/explain`. */
  readonly explained: ReadonlyMap<string, Life>;
  /** By item, as the API's `/trace` has its root. */
  readonly drawn: ReadonlyMap<string, Life>;
  /** Milliseconds from the moment an item was seen to have left until its root was at the collector. */
  readonly arrivals: readonly number[];
  /** What the API showed while it went on. */
  readonly live: readonly LiveSpan[];
}

/** A span as the page and `gatehouse trace` draw it at a moment. */
interface LiveSpan {
  readonly span: SpanRecord;
  readonly resource: SinkSpan['resource'];
}

export async function runTheHeadFails(world: World): Promise<HeadFailsStory> {
  for (const topic of ['A', 'B', 'C']) await world.propose(topic);
  for (const topic of ['A', 'B', 'C']) await world.approve(topic);
  world.fail('project-test1', 'A');
  await world.runs('project-merge: A');
  // B waits for the merge job of A.
  const live = [...(await liveSpans(world, 'A')), ...(await liveSpans(world, 'B'))];
  world.release(/project-merge: A$/);
  await world.runs('project-merge: A B', 'project-test1: A', 'project-test2: A');
  world.release(/project-merge: A B$/);
  await world.runs(
    'project-merge: A B C',
    ...['project-test1: A', 'project-test2: A', 'project-test1: A B', 'project-test2: A B'],
  );
  world.sink.answerNext({ kind: 'status', code: UNAVAILABLE }, { kind: 'status', code: UNAVAILABLE });
  world.release(/project-test1: A$/);
  await world.runs('project-test2: A', 'project-merge: B');
  live.push(...(await liveSpans(world, 'B')));
  world.free();
  return { ...(await outcomeOf(world)), live };
}

async function liveSpans(world: World, topic: string): Promise<readonly LiveSpan[]> {
  const uuid = world.item(topic)?.uuid;
  const answer = await world.api.get<OtlpTraceDocument>(`/api/tenant/${TENANT}/item/${uuid}/trace`);
  const decoded = decodeJsonRequest(Buffer.from(JSON.stringify(answer)));
  const makers = new Map(decoded.map(span => [span.spanId, span.resource]));
  return spansFromOtlp(answer).map(span => {
    const resource = makers.get(span.spanId);
    if (resource === undefined) throw new Error(`span ${span.name} has no resource`);
    return { span, resource };
  });
}

async function outcomeOf(world: World): Promise<Omit<HeadFailsStory, 'live'>> {
  const left = new Map<string, FinishedItem>();
  const explained = new Map<string, Life>();
  const drawn = new Map<string, Life>();
  const arrivals: number[] = [];
  for (const [topic, result] of [
    ['A', 'FAILURE'],
    ['B', 'SUCCESS'],
    ['C', 'SUCCESS'],
  ] as const) {
    const item = await world.leaves(topic, result);
    const leftAt = performance.now();
    await world.observer.until(`the trace of ${topic}`, () =>
      world.sink.spans.some(span => span.traceId === item.uuid && span.parentSpanId === null),
    );
    arrivals.push(performance.now() - leftAt);
    left.set(topic, item);
    explained.set(item.uuid, await lifeByExplanation(world, item.uuid));
    drawn.set(item.uuid, await lifeByTrace(world, item.uuid));
  }
  return { left, explained, drawn, arrivals };
}

async function lifeByExplanation({ api }: World, uuid: string): Promise<Life> {
  const explained = await api.get<Explanation>(`/api/tenant/${TENANT}/item/${uuid}/explain`);
  return { from: explained.enqueuedAt, to: explained.until };
}

interface ApiSpan {
  readonly traceId: string;
  readonly parentSpanId?: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
}

async function lifeByTrace({ api }: World, uuid: string): Promise<Life> {
  const trace = await api.get<{
    readonly resourceSpans: readonly {
      readonly scopeSpans: readonly { readonly spans: readonly ApiSpan[] }[];
    }[];
  }>(`/api/tenant/${TENANT}/item/${uuid}/trace`);
  const all = trace.resourceSpans.flatMap(each => each.scopeSpans.flatMap(scope => scope.spans));
  const root = all.find(span => (span.parentSpanId ?? '') === '' && span.traceId === uuid);
  return { from: root?.startTimeUnixNano ?? '', to: root?.endTimeUnixNano ?? '' };
}

/** Of each item, its row in the history as it is on the disk; ask when the service has ended. */
export function livesInHistory({ config }: World): ReadonlyMap<string, Life> {
  const root = path.resolve(path.dirname(config), '..');
  using database = new DatabaseSync(path.join(stateOf(root), 'history.sqlite'), { readOnly: true });
  const rows = database.prepare('select uuid, enqueued_at, left_at from item').all();
  return new Map(
    rows.map(row => [String(row.uuid), { from: String(row.enqueued_at), to: String(row.left_at) }]),
  );
}
