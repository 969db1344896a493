/** The report that shows an item while it waits or runs: that of its start, with its place, the jobs so far and its resets. */

import type { Forecast } from '../../forecast/forecast.ts';
import type { PipelineState } from '../../model/pipeline-state.ts';
import type { QueueItem } from '../../model/queue-item.ts';
import type { Report } from '../../model/report.ts';
import { itemProgress } from '../../pipeline/item-progress.ts';
import type { PipelineContext } from '../turn/pipeline-context.ts';
import { itemReport } from './report-facts.ts';
import { reportText } from './report-text.ts';
import { reportedTrace } from './reported-trace.ts';

/** Of the turn that made the state. */
export type ProgressContext = Pick<
  PipelineContext,
  'pipeline' | 'tenant' | 'webRoot' | 'spans' | 'forecasts'
>;

/**
 * Jobs that have ended are named with their results, not with messages of their own.
 *
 * @param item one of `state`.
 * @param forecast undefined: there is none.
 */
export function progressReport(
  item: QueueItem,
  state: PipelineState,
  forecast: Forecast | undefined,
  { pipeline, tenant, webRoot, spans }: ProgressContext,
): Report {
  const around = {
    root: webRoot,
    tenant: tenant.name,
    pipeline,
    jobs: [],
    traceUrl: reportedTrace(spans()?.viewer ?? null, webRoot, item),
  };
  const likely = forecast?.kind === 'known' ? forecast.likely : null;
  const progress = itemProgress(item, state, likely);
  const report = { ...itemReport({ action: 'start', result: '' }, item, around), progress };
  return { ...report, text: reportText(report) };
}
