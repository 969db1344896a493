/**
 * OpenTelemetry's kind of a span (`SpanKind` there), by ours.
 *
 * `client`: a call to another service, with `server.address`. `producer` and `consumer`: work that is put into a queue and taken from
 * it, mostly by another process. `server`: roots of requests from outside. A `Build` is a task and stays internal, as the CI/CD
 * conventions have it.
 */
import type { SpanRecord } from '../model/span.ts';
import type { SpanKind } from './allowed-attributes.ts';

type WireKind = SpanRecord['kind'];

const BY_KIND: ReadonlyMap<SpanKind, WireKind> = new Map<SpanKind, WireKind>([
  ['HostQuery', 'client'],
  ['FetchRefs', 'client'],
  ['BuildRepoUpdate', 'client'],
  ['HostReport', 'client'],
  ['HostMerge', 'client'],
  ['HostAnswer', 'client'],
  ['HostProgress', 'client'],
  ['Command', 'client'],
  ['CommandRequest', 'client'],
  ['Merge', 'producer'],
  ['RepoState', 'producer'],
  ['ExecutorQueue', 'producer'],
  ['EventQueued', 'producer'],
  ['MergerJob', 'consumer'],
  ['JobExecution', 'consumer'],
  ['EventProcess', 'consumer'],
]);

/** Roots of background work. */
const BY_ITSELF: ReadonlySet<SpanKind> = new Set<SpanKind>([
  'Sweep',
  'HostSweep',
  'Reconfigure',
  'CacheCleanup',
]);

/** @param isRoot the span has no parent: a kind that is not listed is then `server`, unless it is background work. */
export function wireKindOf(kind: SpanKind, isRoot: boolean): WireKind {
  return BY_KIND.get(kind) ?? (isRoot && !BY_ITSELF.has(kind) ? 'server' : 'internal');
}
