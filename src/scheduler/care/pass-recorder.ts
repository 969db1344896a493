/**
 * Records what a background pass does; its trace becomes rows of the span outbox.
 *
 *     const pass = recordPass('store', {}, deps);
 *     await pass.part('CacheCleanup', 'job-graphs', async () => ({ removed: await removeAll(unused) }));
 *     await fence.commit(pass.rows(), ids.uuid());           // none when nothing was done
 */
import type { Clock } from '../../lib/clock.ts';
import type { IdMaker } from '../../lib/ids.ts';
import type { Operation } from '../../store/port.ts';
import type { LiveTracing } from '../../tracing/live-tracing.ts';
import { type PassFacts, type PassPart, passSpans } from '../../tracing/spans/pass-spans.ts';
import { type TracePlaces, traceRows } from './trace-rows.ts';

/** `tracing` decides for each pass whether its trace is exported. */
export interface PassDeps {
  readonly clock: Pick<Clock, 'now'>;
  readonly ids: IdMaker;
  readonly paths: TracePlaces;
  readonly tracing: Pick<LiveTracing, 'spans' | 'isSampled'>;
}

/** Of one pass, in one process. */
export interface PassRecorder {
  /** Runs the work and counts what it did. Rejects with the work's error; the part is then not recorded. */
  part(
    kind: PassPart['kind'],
    name: string,
    work: () => Promise<Partial<Pick<PassPart, 'removed' | 'settled'>>>,
  ): Promise<void>;
  /** Whether any part did something. */
  readonly didSomething: boolean;
  /** For the last commit of the pass; none while tracing is off, or when the pass is not sampled. Call once. */
  rows(): readonly Operation[];
}

/** @param of the owner of the work, where it has one. */
export function recordPass(
  name: string,
  of: Pick<PassFacts, 'tenant' | 'pipeline' | 'item' | 'build'>,
  { clock, ids, paths, tracing }: PassDeps,
): PassRecorder {
  const startedAt = clock.now();
  const parts: PassPart[] = [];
  return {
    async part(kind, part, work) {
      const began = clock.now();
      const { removed = 0, settled = 0 } = await work();
      parts.push({ kind, name: part, startedAt: began, endedAt: clock.now(), removed, settled });
    },
    get didSomething() {
      return parts.some(({ removed, settled }) => removed + settled > 0);
    },
    rows() {
      const style = tracing.spans();
      const pass = ids.uuid();
      if (style === undefined || !tracing.isSampled(pass)) return [];
      const endedAt = clock.now();
      const spans = passSpans({ pass, name, ...of, startedAt, endedAt, parts }, style);
      return traceRows(paths, spans, endedAt);
    },
  };
}
