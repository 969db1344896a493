/**
 * The end of the demo: pipeline post has run for every merged change, all pipelines are empty, no event waits, and the collector has
 * accepted every span. A demo that stopped earlier would leave traces without roots.
 */
import { type Api, ApiError } from '../client/api.ts';
import { type FollowedTenant, followTenant } from '../client/follow.ts';
import { TENANT } from './demo-files.ts';
import type { DemoHost } from './demo-host.ts';
import { git } from './developer.ts';
import type { ChangeOutcome } from './outcome.ts';

/** Milliseconds. */
const QUIET_LIMIT = 60_000;
/** Milliseconds after which the process that sends spans has reported its last delivery. */
const SENDER_REPORTS_EVERY = 1_200;
/** Milliseconds between two reads of the history, which lags behind the live view. */
const POLL_INTERVAL = 100;

/** `late`: the results of the demo stand, but its traces may be incomplete. */
export type Quiet =
  /** @property exported spans accepted by the collector; 0 without a collector. */
  | { readonly kind: 'quiet'; readonly exported: number }
  /** @property problem the unmet condition, for people. */
  | { readonly kind: 'late'; readonly exported: number; readonly problem: string };

/** Waits for about a minute. @throws ApiError when the service breaks off. */
export async function untilQuiet(
  host: DemoHost,
  api: Api,
  outcomes: readonly ChangeOutcome[],
): Promise<Quiet> {
  const limit = AbortSignal.timeout(QUIET_LIMIT);
  const late = (problem: string, exported = 0): Quiet => ({ kind: 'late', exported, problem });
  if (!(await landedIsPublished(host, api, outcomes, limit)))
    return late(`pipeline post did not run for all merged changes within ${QUIET_LIMIT / 1000} s`);
  let view: FollowedTenant | undefined;
  let deliveredAt: number | undefined;
  const stop = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  for await (const next of followTenant(api, TENANT, AbortSignal.any([limit, stop.signal]))) {
    view = next;
    clearTimeout(timer);
    deliveredAt = undefined;
    if (!isIdle(next)) continue;
    deliveredAt = next.tracing?.delivered ?? 0;
    if (next.tracing === null) stop.abort();
    else timer = setTimeout(() => stop.abort(), SENDER_REPORTS_EVERY);
  }
  clearTimeout(timer);
  if (deliveredAt !== undefined) return { kind: 'quiet', exported: deliveredAt };
  const exported = view?.tracing?.delivered ?? 0;
  const waiting = view?.tracing?.waiting ?? 0;
  if (waiting > 0)
    return late(
      `${waiting} batches of spans are not delivered: ${view?.tracing?.problem ?? 'the collector is slow'}`,
      exported,
    );
  return late(`the pipelines are not empty after ${QUIET_LIMIT / 1000} s`, exported);
}

/** No item, no event on its way to one, no span on its way to the collector. */
function isIdle({ tenant, pipelines, items, tracing }: FollowedTenant): boolean {
  if (tenant === null || items.size > 0) return false;
  const events = [tenant.triggerEvents, ...Object.values(tenant.connectionEvents)];
  return (
    events.every(count => count === 0) &&
    pipelines.every(pipeline => pipeline.events === 0) &&
    (tracing === null || tracing.waiting === 0)
  );
}

interface Published {
  readonly refs: readonly { readonly project: string; readonly newrev: string | null }[];
}

/** @returns false when the limit passed first. */
async function landedIsPublished(
  { repositories }: DemoHost,
  api: Api,
  outcomes: readonly ChangeOutcome[],
  limit: AbortSignal,
): Promise<boolean> {
  const projects = [...new Set(outcomes.filter(each => each.merged).map(each => each.project))];
  const tips = await Promise.all(
    projects.map(project => git(repositories.get(project) ?? '', 'rev-parse', 'refs/heads/master')),
  );
  while (!limit.aborted) {
    const published = await publishedCommits(api);
    if (tips.every(tip => published.has(tip))) return true;
    await new Promise(resolve => setTimeout(resolve, POLL_INTERVAL));
  }
  return false;
}

async function publishedCommits(api: Api): Promise<ReadonlySet<string | null>> {
  try {
    const buildsets = await api.get<readonly Published[]>(
      `/api/tenant/${TENANT}/buildsets?pipeline=post&limit=100`,
    );
    return new Set(buildsets.flatMap(({ refs }) => refs.map(({ newrev }) => newrev)));
  } catch (error) {
    // The service restarts: poll again until the limit.
    if (error instanceof ApiError) return new Set();
    throw error;
  }
}
