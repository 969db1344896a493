/**
 * `GET /api/tenant/<t>/item/<uuid>/compare?with=<uuid>`: an item beside another, and beside what is usual (`src/explain/compare-items.ts`).
 * By default the other is the last of its project and branch that passed in its pipeline before.
 *
 * What is usual is read from the newest {@link MOST_READ} items that left the pipeline before this one did, page by page. The route needs no
 * token, so answers are shared and computed one at a time (shared-answers.ts).
 */
import type { Router } from 'express';
import { comparisonDocument } from '../api/comparison.ts';
import { QUERIES } from '../api/queries.ts';
import {
  type ComparableItem,
  type Comparison,
  comparableItem,
  compareItems,
  isComparable,
  lastGood,
} from '../explain/compare-items.ts';
import { takeFinished } from '../history/take-finished.ts';
import { addMilliseconds, type Nanoseconds } from '../lib/clock.ts';
import { endOfItem, type QueueItem } from '../model/queue-item.ts';
import { type Answer, jsonAnswer, type ReadRequest } from './answer.ts';
import type { WebDeps } from './deps.ts';
import { readQuery } from './query.ts';
import { type SharedAnswers, sharedAnswers, tooManyWait } from './shared-answers.ts';
import { type FoundTenant, findItemOfTenant, inTenant } from './tenant-access.ts';

/** Items of the pipeline, of any project; whole records, one page of them at a time in memory. */
export const MOST_READ = 400;
const PAGE = 20;
/** Of the same project and branch; more say nothing new. */
const MOST_GOOD = 60;
const MONTH_MS = 30 * 86_400_000;

type CompareDeps = Pick<WebDeps, 'snapshot' | 'tenants' | 'auth' | 'history' | 'leavingItems' | 'clock'>;

/** Each call makes a cache of answers of its own. @param router of a tenant. */
export function addCompareRoute(router: Router, deps: CompareDeps): void {
  const shared = sharedAnswers<Comparison>(deps.clock);
  router.get(
    '/item/:uuid/compare',
    inTenant(deps, (tenant, request) => compare(deps, shared, tenant, request)),
  );
}

async function compare(
  deps: CompareDeps,
  shared: SharedAnswers<Comparison>,
  tenant: FoundTenant,
  request: ReadRequest,
): Promise<Answer> {
  const query = readQuery(request.query, QUERIES.compare);
  if (query.kind === 'refused') return query;
  const found = await findItemOfTenant(deps, tenant, request.parameter('uuid'));
  if (found.kind === 'refused') return found;
  const { with: named } = query.values;
  const other = named === undefined ? null : await findItemOfTenant(deps, tenant, named);
  if (other?.kind === 'refused') return other;
  const { item } = found;
  const key = JSON.stringify([tenant.name, item.uuid, other?.item.uuid]);
  const made = shared(key, () => answer(deps, tenant.name, item, other?.item));
  return made === undefined ? tooManyWait('comparisons') : jsonAnswer(comparisonDocument(await made));
}

async function answer(
  deps: CompareDeps,
  tenant: string,
  item: QueueItem,
  other: QueueItem | undefined,
): Promise<Comparison> {
  const now = deps.clock.now();
  const good = await goodBefore(deps, tenant, item, endOfItem(item) ?? now);
  const beside = other === undefined ? lastGood(good) : comparableItem(other, now);
  return compareItems(comparableItem(item, now), beside, good);
}

/** Newest first. */
async function goodBefore(
  { history }: Pick<WebDeps, 'history'>,
  tenant: string,
  item: QueueItem,
  until: Nanoseconds,
): Promise<readonly ComparableItem[]> {
  const good: ComparableItem[] = [];
  const since = addMilliseconds(until, -MONTH_MS);
  const question = { tenant, pipeline: item.pipeline, since, until, most: MOST_READ, page: PAGE };
  await takeFinished(history, question, candidate => {
    if (isComparable(item, candidate)) good.push(comparableItem(candidate, until));
    return good.length < MOST_GOOD;
  });
  return good;
}
