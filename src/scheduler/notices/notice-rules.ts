/**
 * Notices: messages that people asked for by `[notify NAME]`, beside the reports that pipelines make.
 *
 *     a turn            turn-notices (landed, failed, reset twice) → notice-intents, in the turn's own commit
 *     time that passes  queue-watch (pipeline-notes: what was sent) → stuck-heads, slipped-forecasts → notice-intents
 *     rules             this file: which rule wants what, and how much of it
 *
 * A notice is an intent in the outbox of messages, and travels as any message does: retried for a day, counted, and waited for by no
 * item. Nothing here runs where no rule asks for it.
 */
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { createTokenBucket, type TokenBucket } from '../../lib/token-bucket.ts';
import type { MetricsSink } from '../../metrics/registry.ts';
import type { Json } from '../../model/job.ts';
import type { NoticeEvent } from '../../model/notice.ts';
import { type ConnectionName, projectIdOf } from '../../model/project.ts';
import type { QueueItem } from '../../model/queue-item.ts';

/** A section `[notify NAME]`, checked against its connection. A list that is empty excludes nothing. */
export interface NoticeRule {
  readonly name: string;
  /** One that takes messages. */
  readonly connection: ConnectionName;
  /** As the connection's driver parsed it. */
  readonly config: Json;
  readonly events: readonly NoticeEvent[];
  readonly tenants: readonly string[];
  readonly pipelines: readonly string[];
  readonly projects: readonly string[];
  readonly stuckAfterMs: number;
  readonly slippedByMs: number;
  readonly mostPerHour: number;
}

/** Of one scheduler: all of its pipelines share the bound of a rule. */
export interface NoticeRules {
  /** Those that the pipeline's items may match, of any project. */
  readonly of: (tenant: string, pipeline: string) => readonly NoticeRule[];
  /** Counts one more message. @returns whether it may be sent: there were not too many lately. */
  take(rule: NoticeRule, event: NoticeEvent): boolean;
}

/** @param rules in the order of the file. */
export function createNoticeRules(
  rules: readonly NoticeRule[],
  deps: {
    readonly clock: Pick<Clock, 'monotonic'>;
    readonly log: Log;
    readonly metrics?: Pick<MetricsSink, 'record'> | undefined;
  },
): NoticeRules {
  const buckets = new Map<NoticeRule, { readonly bucket: TokenBucket; isEmpty: boolean }>();
  return {
    of: (tenant, pipeline) =>
      rules.filter(rule => names(rule.tenants, tenant) && names(rule.pipelines, pipeline)),
    take(rule, event) {
      const { mostPerHour, name } = rule;
      const known = buckets.get(rule) ?? {
        bucket: createTokenBucket(mostPerHour, mostPerHour / 3600, deps.clock),
        isEmpty: false,
      };
      buckets.set(rule, known);
      const isRefused = known.bucket.take() > 0;
      if (isRefused && !known.isEmpty)
        deps.log.warn(
          { rule: name },
          `rule ${name} asks for more than ${mostPerHour} notices an hour; some are left out`,
        );
      known.isEmpty = isRefused;
      const outcome = isRefused ? 'left-out' : 'requested';
      deps.metrics?.record([
        { metric: 'gatehouse_notices', labels: { rule: name, event, outcome }, value: 1 },
      ]);
      return !isRefused;
    },
  };
}

/** Whether the rule wants the event of this item. */
export function wants({ events, projects }: NoticeRule, event: NoticeEvent, { changes }: QueueItem): boolean {
  if (!events.includes(event)) return false;
  return projects.length === 0 || changes.some(({ project }) => projects.includes(projectIdOf(project).name));
}

function names(list: readonly string[], name: string): boolean {
  return list.length === 0 || list.includes(name);
}
