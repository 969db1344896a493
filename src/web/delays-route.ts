/**
 * `GET /api/tenant/<t>/pipeline/<p>/delays?since=&limit=&skip=`: where the time of a pipeline went (`src/explain/delays.ts`), default the
 * last 24 hours, with a page of its picture.
 *
 * Items come from the history, page by page, and from the queue. Of more than {@link MOST_ITEMS} only the newest count, and the
 * answer has `truncated` and the time from which everything is `covered`. The route needs no token, so answers are shared and
 * computed one at a time, with a bounded number of waiting requests (shared-answers.ts).
 */
import type { Router } from 'express';
import { type DelaysAnswer, delaysDocument } from '../api/delays.ts';
import { QUERIES } from '../api/queries.ts';
import type { PipelineSnapshot } from '../api/tenant-snapshot.ts';
import { type DelayedItem, delayedItem } from '../explain/delayed-item.ts';
import { delaysOf } from '../explain/delays.ts';
import { takeFinished } from '../history/take-finished.ts';
import { type Nanoseconds, toMilliseconds } from '../lib/clock.ts';
import { nextTurn, turnIsUsed } from '../lib/turns.ts';
import { itemPage } from '../model/page-addresses.ts';
import type { QueueItem } from '../model/queue-item.ts';
import { traceAddress } from '../tracing/trace-links.ts';
import { type Answer, badRequest, jsonAnswer, type ReadRequest } from './answer.ts';
import type { WebDeps } from './deps.ts';
import { pipelineNamed } from './named-pipeline.ts';
import { readQuery } from './query.ts';
import { KEEP_MS, type SharedAnswers, sharedAnswers, tooManyWait } from './shared-answers.ts';
import { parseSince } from './since.ts';
import { type FoundTenant, inTenant } from './tenant-access.ts';

/** Finished items read for one answer, newest first; a bound of time and memory, since each is a whole record. */
export const MOST_ITEMS = 2000;
const PAGE = 50;

type DelaysDeps = Pick<WebDeps, 'snapshot' | 'tenants' | 'auth' | 'history' | 'clock' | 'root' | 'traceUi'>;

/** Each call makes a cache of answers of its own, so the two listeners share none. @param router of a tenant. */
export function addDelaysRoute(router: Router, deps: DelaysDeps): void {
  const shared = sharedAnswers<DelaysAnswer>(deps.clock);
  router.get(
    '/pipeline/:pipeline/delays',
    inTenant(deps, (tenant, request) => delays(deps, shared, tenant, request)),
  );
}

async function delays(
  deps: DelaysDeps,
  shared: SharedAnswers<DelaysAnswer>,
  tenant: FoundTenant,
  request: ReadRequest,
): Promise<Answer> {
  const query = readQuery(request.query, QUERIES.delays);
  if (query.kind === 'refused') return query;
  const text = query.values.since ?? '24h';
  const now = deps.clock.now();
  const read = parseSince(text, now);
  if (read.kind === 'wrong') return badRequest(`since: ${read.reason}`, 'query parameter since');
  const found = pipelineNamed(tenant, request);
  if (found.kind === 'refused') return found;
  const { live } = found;
  const { limit, skip } = query.values;
  const key = JSON.stringify([tenant.name, live.pipeline.name, rounded(read.since), limit, skip]);
  const asked = { since: read.since, until: now, limit, skip };
  const made = shared(key, () => answer(deps, tenant.name, live, asked));
  return made === undefined ? tooManyWait('delays') : jsonAnswer(delaysDocument(await made));
}

/** Requests share an answer if their beginnings differ by less than the time an answer is kept. */
function rounded(since: Nanoseconds): number {
  return Math.floor(toMilliseconds(since) / KEEP_MS);
}

interface Asked {
  readonly since: Nanoseconds;
  readonly until: Nanoseconds;
  /** Rows of the picture. */
  readonly limit: number;
  readonly skip: number;
}

async function answer(
  deps: DelaysDeps,
  tenant: string,
  { pipeline, state }: PipelineSnapshot,
  { since, until, ...page }: Asked,
): Promise<DelaysAnswer> {
  const links = new Map<string, string | null>();
  const found = new Map<string, DelayedItem>();
  const take = (item: QueueItem) => {
    if (item.role !== 'live') return;
    found.set(item.uuid, delayedItem(item, until));
    links.set(item.uuid, traceAddress(deps.traceUi(), item));
  };
  for (const item of state.items.values()) {
    take(item);
    if (turnIsUsed()) await nextTurn();
  }
  // After the items in the queue: an item that has left meanwhile counts as finished.
  const wanted = { tenant, pipeline: pipeline.name, since, most: MOST_ITEMS, page: PAGE };
  const covered = await takeFinished(deps.history, wanted, item => {
    take(item);
    return true;
  });
  const widths = new Map(
    state.queues.flatMap(({ key, window }) => (window > 0 ? [[key, window] as const] : [])),
  );
  const question = { since, until, covered };
  const { slowest, picture, ...rest } = await delaysOf([...found.values()], question, page, widths);
  const traceUrlOf = (item: string) => links.get(item) ?? null;
  return {
    tenant,
    pipeline: pipeline.name,
    ...rest,
    queues: state.queues.map(({ name, window, items }) => ({ name, window, items: items.length })),
    slowest: slowest.map(slow => ({
      ...slow,
      page: itemPage(deps.root(), tenant, slow.item),
      traceUrl: traceUrlOf(slow.item),
    })),
    picture: {
      ...picture,
      rows: picture.rows.map(row => ({ ...row, traceUrl: traceUrlOf(row.item) })),
    },
  };
}
