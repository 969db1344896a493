/** Which pipelines of a tenant take an event, each with the reason: stage 3. Pure. */
import type { Driver } from '../../driver/driver.ts';
import type { Nanoseconds } from '../../lib/clock.ts';
import { type ChangeRecord, changeText } from '../../model/change.ts';
import type { Decision } from '../../model/decision.ts';
import type { TriggerEvent } from '../../model/event.ts';
import type { Pipeline } from '../../model/pipeline.ts';
import type { TenantName } from '../../model/project.ts';

/** The answer of one pipeline to one event. */
export interface PipelineMatch {
  readonly pipeline: Pipeline;
  readonly matched: boolean;
  /** From the driver: the filter that matched, or why none did. */
  readonly text: string;
}

/**
 * @param record of the event's change, for filters on its state; undefined: it is not in the cache.
 * @returns one for each pipeline, in their order.
 */
export function matchPipelines(
  trigger: TriggerEvent,
  { tenant, pipelines }: { readonly tenant: TenantName; readonly pipelines: Iterable<Pipeline> },
  driver: Driver,
  record: ChangeRecord | undefined,
): readonly PipelineMatch[] {
  return [...pipelines].map(pipeline => matchPipeline(trigger, { tenant, pipeline }, driver, record));
}

/** No pipeline takes it, for one reason. */
export function matchNone(pipelines: Iterable<Pipeline>, text: string): readonly PipelineMatch[] {
  return [...pipelines].map(pipeline => ({ pipeline, matched: false, text }));
}

function matchPipeline(
  trigger: TriggerEvent,
  { tenant, pipeline }: { readonly tenant: TenantName; readonly pipeline: Pipeline },
  driver: Driver,
  record: ChangeRecord | undefined,
): PipelineMatch {
  const triggers = pipeline.triggers.filter(each => each.connection === trigger.connection);
  if (triggers.length === 0)
    return { pipeline, matched: false, text: `no trigger for connection ${trigger.connection}` };
  const taker = { tenant, pipeline: pipeline.name };
  const verdicts = triggers.map(each => driver.config.matches(each.config, trigger, record, taker));
  const found = verdicts.find(verdict => verdict.met);
  if (found !== undefined) return { pipeline, matched: true, text: found.text };
  return { pipeline, matched: false, text: [...new Set(verdicts.map(verdict => verdict.text))].join('; ') };
}

/** The match as the history keeps it. @param at the time of the decision. */
export function matchDecision(
  match: PipelineMatch,
  trigger: TriggerEvent,
  tenant: TenantName,
  at: Nanoseconds,
): Decision {
  return {
    at,
    code: match.matched ? 'trigger-matched' : 'no-trigger-matched',
    tenant,
    pipeline: match.pipeline.name,
    project: trigger.project,
    change: trigger.change.key,
    changeText: changeText(trigger.change),
    item: null,
    event: trigger.uuid,
    text: match.matched
      ? `${trigger.type}: ${match.text}`
      : `${trigger.type}: not for pipeline ${match.pipeline.name}, ${match.text}`,
  };
}
