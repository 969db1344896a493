/** One item, live or finished: its document, its trace, its explanation, and the logs of its builds. */
import type { Router } from 'express';
import { explanationDocument } from '../api/explanation.ts';
import { liveItem } from '../api/live-item.ts';
import { nodeWaitsNow, nodeWaitText } from '../api/node-waits.ts';
import { QUERIES } from '../api/queries.ts';
import type { ExecutorTrouble, ExplainedFailure, ExplainedNodeWait } from '../explain/explain.ts';
import { stretchesOf } from '../explain/stretches.ts';
import { itemsWaitedFor } from '../explain/waited-for.ts';
import type { BuildFacts } from '../history/build-facts.ts';
import { millisecondsBetween, type Nanoseconds, parseNanoseconds } from '../lib/clock.ts';
import type { Uuid } from '../lib/ids.ts';
import { awaitsNodes } from '../model/node-wait.ts';
import type { QueueItem } from '../model/queue-item.ts';
import { traceLinks } from '../tracing/trace-links.ts';
import { type HttpRefusal, jsonAnswer, notFound } from './answer.ts';
import type { WebDeps } from './deps.ts';
import type { ExpectedJobDurations } from './expected-durations.ts';
import { ownOtlpJson } from './otlp-json.ts';
import { readQuery } from './query.ts';
import { type FoundTenant, findBuild, findItemOfTenant, inTenant } from './tenant-access.ts';
import { judgedResults } from './test-results.ts';

const EXPLAINED_TESTS_PER_BUILD = 5;
const EXPLAINED_TESTS = 20;

/** @param router of a tenant: an item or build of another tenant is not found. */
export function addItemRoutes(router: Router, deps: WebDeps, expected: ExpectedJobDurations): void {
  router.get(
    '/item/:uuid',
    inTenant(deps, async (tenant, { parameter }) => {
      const found = await findItemOfTenant(deps, tenant, parameter('uuid'));
      if (found.kind === 'refused') return found;
      const { item } = found;
      return jsonAnswer(
        liveItem(item, { ...traceLinks(deps.traceUi(), item), expected: await expected.of(item) }),
      );
    }),
  );
  router.get(
    '/item/:uuid/trace',
    inTenant(deps, async (tenant, { parameter }) => {
      const found = await findItemOfTenant(deps, tenant, parameter('uuid'));
      return found.kind === 'refused'
        ? found
        : jsonAnswer(ownOtlpJson(deps.spansOf(found.item), deps.installation()));
    }),
  );
  router.get(
    '/item/:uuid/explain',
    inTenant(deps, async (tenant, { parameter }) => {
      const found = await findItemOfTenant(deps, tenant, parameter('uuid'));
      if (found.kind === 'refused') return found;
      const now = deps.clock.now();
      const others = await itemsAhead(deps, tenant, found.item, now);
      const usual = await expected.of(found.item);
      const failedTests = await failedTestsOf(deps, tenant, found.item);
      const executorTroubles = troublesOfExecutors(deps);
      const nodeWaits = await nodeWaitsOf(deps, found.item);
      const context = { others, usual, failedTests, executorTroubles, nodeWaits };
      const explanation = deps.explain(found.item, now, context);
      return jsonAnswer(explanationDocument(explanation));
    }),
  );
  router.get(
    '/build/:uuid/log',
    inTenant(deps, async (tenant, request) => {
      const query = readQuery(request.query, QUERIES.log);
      if (query.kind === 'refused') return query;
      const { offset, limit } = query.values;
      const build = await findBuild(deps, tenant, request.parameter('uuid'));
      const piece =
        build === undefined
          ? undefined
          : await deps.readLog({ build: build.uuid, worker: build.worker, offset, limit });
      if (piece === undefined) return noLog(build, deps);
      return {
        kind: 'text',
        body: piece.bytes,
        headers: {
          'X-Next-Offset': String(offset + piece.bytes.length),
          'X-Complete': String(piece.complete),
        },
      };
    }),
  );
}

function troublesOfExecutors({ components }: Pick<WebDeps, 'components'>): readonly ExecutorTrouble[] {
  return components().flatMap(({ kind, host, trouble }) =>
    kind === 'executor' && trouble !== undefined ? [{ executor: host, trouble }] : [],
  );
}

/** The store is read only where a build waits. */
async function nodeWaitsOf(
  { nodes }: Pick<WebDeps, 'nodes'>,
  { buildset: { builds } }: QueueItem,
): Promise<readonly ExplainedNodeWait[]> {
  const waiting = builds.filter(awaitsNodes);
  if (waiting.length === 0) return [];
  const now = new Map(nodeWaitsNow(await nodes()).map(wait => [wait.build, wait]));
  return waiting.flatMap(({ uuid, job }) => {
    const wait = now.get(uuid);
    return wait === undefined ? [] : [{ build: uuid, job, text: nodeWaitText(wait) }];
  });
}

/** Of the last buildset, the first of each build. */
async function failedTestsOf(
  deps: WebDeps,
  tenant: FoundTenant,
  item: QueueItem,
): Promise<readonly ExplainedFailure[]> {
  const found: ExplainedFailure[] = [];
  for (const build of item.buildset.builds) {
    if (found.length >= EXPLAINED_TESTS) break;
    const judged = await judgedResults(deps, tenant, item, build);
    const first = judged?.failures.slice(0, EXPLAINED_TESTS_PER_BUILD) ?? [];
    found.push(...first.map(each => ({ ...each, build: build.uuid, job: build.job })));
  }
  return found;
}

/** 410 for a pruned log, 404 for a log that was never written. */
function noLog(build: BuildFacts | undefined, { keepLogs, clock }: WebDeps): HttpRefusal {
  const ended = build?.end_time ?? null;
  if (keepLogs !== undefined && ended !== null) {
    const age = millisecondsBetween(parseNanoseconds(ended), clock.now()) / 1000;
    const days = Math.floor(keepLogs / 86_400);
    if (age > keepLogs)
      return {
        kind: 'refused',
        status: 410,
        error: `the log of this build was pruned after ${days} ${days === 1 ? 'day' : 'days'} ([executor] keep_logs)`,
        place: 'path: build',
      };
  }
  return notFound('this build has no log yet', 'path: build');
}

/** The known items it waited for, whose states the explanation shows. */
async function itemsAhead(
  deps: Pick<WebDeps, 'history' | 'leavingItems'>,
  tenant: FoundTenant,
  item: QueueItem,
  now: Nanoseconds,
): Promise<ReadonlyMap<Uuid, QueueItem>> {
  const found = new Map<Uuid, QueueItem>();
  for (const uuid of itemsWaitedFor(stretchesOf(item, now))) {
    const other = await findItemOfTenant(deps, tenant, uuid);
    if (other.kind === 'item') found.set(uuid, other.item);
  }
  return found;
}
