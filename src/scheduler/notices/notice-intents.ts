/** Notices → intents in the outbox of messages. */
import type { Nanoseconds } from '../../lib/clock.ts';
import { derivedUuid } from '../../lib/ids.ts';
import { leadChange } from '../../model/about-item.ts';
import { reportIntentCodec } from '../../model/codec/records.ts';
import type { ReportIntent } from '../../model/report-intent.ts';
import { outboxOperation } from '../../store/outbox.ts';
import type { Operation } from '../../store/port.ts';
import { itemReport } from '../report/report-facts.ts';
import { reportedTrace } from '../report/reported-trace.ts';
import { storedReport } from '../report/stored-report.ts';
import type { PipelineContext } from '../turn/pipeline-context.ts';
import { type NoticeRule, wants } from './notice-rules.ts';
import type { ItemNotice } from './turn-notices.ts';

/** What a notice says beside what happened. */
export type NoticeContext = Pick<PipelineContext, 'pipeline' | 'tenant' | 'webRoot' | 'spans' | 'notices'> & {
  readonly nodes: Pick<PipelineContext['nodes'], 'messageOutbox'>;
};

/** For all rules that want them, within their bounds. */
export function noticeOperations(
  notices: readonly ItemNotice[],
  now: Nanoseconds,
  context: NoticeContext,
): readonly Operation[] {
  if (notices.length === 0) return [];
  const rules = context.notices.of(context.tenant.name, context.pipeline.name);
  return notices.flatMap(notice => rules.flatMap(rule => noticeFor(rule, notice, now, context)));
}

/** One message; none where the rule does not want it, or had too many. */
export function noticeFor(
  rule: NoticeRule,
  about: ItemNotice,
  now: Nanoseconds,
  context: NoticeContext,
): readonly Operation[] {
  const { event } = about.notice;
  if (!wants(rule, event, about.item) || !context.notices.take(rule, event)) return [];
  const data = reportIntentCodec.encode(noticeIntent(rule, about, now, context));
  return [outboxOperation(context.nodes.messageOutbox, data, now)];
}

function noticeIntent(
  { name, connection, config }: NoticeRule,
  { item, notice, headline, occasion }: ItemNotice,
  now: Nanoseconds,
  { pipeline, tenant, webRoot, spans }: NoticeContext,
): ReportIntent {
  const { footer: _, ...report } = itemReport(occasion, item, {
    root: webRoot,
    tenant: tenant.name,
    pipeline,
    jobs: [],
    traceUrl: reportedTrace(spans()?.viewer ?? null, webRoot, item),
  });
  return {
    uuid: derivedUuid(item.uuid, 'notice', name, notice.event, notice.cause),
    ...storedReport({ ...report, headline, notice }),
    answered: true,
    requestedAt: now,
    parts: [{ connection, config, merges: false, change: leadChange(item) }],
  };
}
