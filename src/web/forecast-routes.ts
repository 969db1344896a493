/**
 * `…/pipeline/<p>/forecast`: when its items will probably leave. `…/forecast/calibration?since=`: how right that was for items that have
 * landed since, default the last seven days; costly, and so shared by equal requests and made one at a time (shared-answers.ts).
 */
import { setImmediate } from 'node:timers/promises';
import type { Router } from 'express';
import { type CalibrationDocument, calibrationDocument, forecastDocument } from '../api/forecast.ts';
import { QUERIES } from '../api/queries.ts';
import type { PipelineSnapshot } from '../api/tenant-snapshot.ts';
import { type Checked, calibrationOf, checkForecast, landedByReport } from '../forecast/calibration.ts';
import { queueKindOf } from '../forecast/forecast.ts';
import { type FinishedWork, finishedWork } from '../forecast/recent-work.ts';
import { takeFinished } from '../history/take-finished.ts';
import { type Nanoseconds, toMilliseconds } from '../lib/clock.ts';
import { endOfItem, type QueueItem } from '../model/queue-item.ts';
import { badRequest, jsonAnswer } from './answer.ts';
import type { WebDeps } from './deps.ts';
import type { Forecasts } from './forecasts.ts';
import { pipelineNamed } from './named-pipeline.ts';
import { readQuery } from './query.ts';
import { KEEP_MS, sharedAnswers, tooManyWait } from './shared-answers.ts';
import { parseSince } from './since.ts';
import { inTenant } from './tenant-access.ts';

/** Finished items that are read, and those of them that are checked: the newest. */
const MOST = { items: 1000, checked: 200 } as const;
const PAGE = 10;

type ForecastDeps = Pick<WebDeps, 'snapshot' | 'tenants' | 'auth' | 'history' | 'clock'>;

/** @param router of a tenant. */
export function addForecastRoutes(router: Router, deps: ForecastDeps, forecasts: Forecasts): void {
  const shared = sharedAnswers<CalibrationDocument>(deps.clock);
  router.get(
    '/pipeline/:pipeline/forecast',
    inTenant(deps, async (tenant, request) => {
      const found = pipelineNamed(tenant, request);
      if (found.kind === 'refused') return found;
      const all = await forecasts.of(tenant.name, found.live);
      return jsonAnswer(forecastDocument(found.live.pipeline, all, toMilliseconds(deps.clock.now())));
    }),
  );
  router.get(
    '/pipeline/:pipeline/forecast/calibration',
    inTenant(deps, async (tenant, request) => {
      const query = readQuery(request.query, QUERIES.calibration);
      if (query.kind === 'refused') return query;
      const read = parseSince(query.values.since ?? '7d', deps.clock.now());
      if (read.kind === 'wrong') return badRequest(`since: ${read.reason}`, 'query parameter since');
      const found = pipelineNamed(tenant, request);
      if (found.kind === 'refused') return found;
      const { live } = found;
      const key = JSON.stringify([
        tenant.name,
        live.pipeline.name,
        Math.floor(toMilliseconds(read.since) / KEEP_MS),
      ]);
      const made = shared(key, () => calibration(deps, tenant.name, live, read.since));
      return made === undefined ? tooManyWait('calibrations') : jsonAnswer(await made);
    }),
  );
}

async function calibration(
  { history }: Pick<ForecastDeps, 'history'>,
  tenant: string,
  { pipeline, state }: PipelineSnapshot,
  since: Nanoseconds,
): Promise<CalibrationDocument> {
  const finished: { readonly leftAt: number; readonly work: FinishedWork }[] = [];
  const gone: QueueItem[] = [];
  const question = { tenant, pipeline: pipeline.name, since, most: MOST.items, page: PAGE };
  const covered = await takeFinished(history, question, item => {
    gone.push(item);
    const end = endOfItem(item);
    if (item.role === 'live' && end !== null)
      finished.push({ leftAt: toMilliseconds(end), work: finishedWork(item) });
    return true;
  });
  const others = [...state.items.values(), ...gone].sort((a, b) =>
    toMilliseconds(a.enqueuedAt) < toMilliseconds(b.enqueuedAt) ? -1 : 1,
  );
  const checked: Checked[] = [];
  for (const item of gone.filter(landedByReport).slice(0, MOST.checked)) {
    const window = state.queues.find(({ key }) => key === item.queue)?.window ?? pipeline.window.initial;
    checked.push(checkForecast(item, others, finished, { kind: queueKindOf(pipeline.manager), window }));
    await setImmediate();
  }
  return calibrationDocument(pipeline.name, toMilliseconds(covered), calibrationOf(checked));
}
