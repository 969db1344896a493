/**
 * Zuul's names of spans, for `[tracing] span_names = zuul`: saved searches and dashboards of a Zuul installation find ours.
 *
 * As of Zuul's `startSavedSpan`, `startSpanInContext` and `start_span` calls (zuul/model.py, manager, scheduler.py, merger, executor
 * and drivers). Only the name follows Zuul; the attribute `gatehouse.span.type` always has our kind. Kinds that Zuul does not have
 * keep their own bare name, and Zuul's spans for features we do not have (`Cat`, `FilesChanges`, `RequestNodes`) never appear.
 */
import type { SpanKind } from './allowed-attributes.ts';

/** Kinds for which Zuul has a span. */
const ZUUL_NAMES: ReadonlyMap<SpanKind, string> = new Map<SpanKind, string>([
  ['QueueItem', 'QueueItem'],
  ['BuildSet', 'BuildSet'],
  ['Merge', 'Merge'],
  ['RepoState', 'RefState'],
  ['MergerJob', 'MergerJob'],
  ['Build', 'Build'],
  ['JobExecution', 'JobExecution'],
  ['BuildRepoUpdateLock', 'BuildRepoUpdateLock'],
  ['BuildRepoUpdate', 'BuildRepoUpdate'],
  ['BuildCloneRepo', 'BuildCloneRepo'],
  ['BuildMergeChanges', 'BuildMergeChanges'],
  ['BuildSetRepoState', 'BuildSetRepoState'],
  ['BuildCheckout', 'BuildCheckout'],
  ['TenantEvent', 'TenantTriggerEventProcessing'],
  ['InternalEvent', 'ZuulEvent'],
]);

/**
 * @param label the span's name without subject: its kind, or `GitEvent` for a `ConnectionEvent`.
 * @param driver of an event's trace, e.g. `github`: Zuul names the processing after it (`GithubEventProcessing`).
 */
export function zuulNameOf(kind: SpanKind, label: string, driver: string | undefined): string {
  if (kind === 'EventProcess' && driver !== undefined) return `${eventKind(driver)}Processing`;
  return ZUUL_NAMES.get(kind) ?? label;
}

/** `github` → `GithubEvent`, in Zuul as here. */
export function eventKind(driver: string): string {
  return `${driver.charAt(0).toUpperCase()}${driver.slice(1)}Event`;
}
