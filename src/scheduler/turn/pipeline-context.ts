/** The inputs of one pipeline's turns, made again whenever the tenant's layout changes. */
import type { IdMaker } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';
import type { MetricsSink } from '../../metrics/registry.ts';
import type { PipelineEvent } from '../../model/event.ts';
import type { Tenant } from '../../model/layout.ts';
import type { Pipeline } from '../../model/pipeline.ts';
import type { EventQueue } from '../../store/event-queue.ts';
import type { Operation, Store } from '../../store/port.ts';
import type { TracePolicy } from '../../tracing/live-tracing.ts';
import type { ChangeCache } from '../changes/change-cache.ts';
import type { ChangeFactsDeps } from '../changes/change-facts.ts';
import type { CommandContext } from './commands.ts';
import type { ExpectedDurations } from './expected-durations.ts';
import type { FreezeContext } from './freeze-buildset.ts';
import type { JobGraphs } from './job-graphs.ts';
import type { LandedConfigurationDeps } from './note-landed.ts';
import type { PipelineClock } from './pipeline-clock.ts';
import type { Rechecks } from './rechecks.ts';
import type { CommitContext } from './turn-operations.ts';

export interface PipelineContext {
  readonly clock: PipelineClock;
  readonly ids: IdMaker;
  readonly store: Store;
  /** Place of commits too large for one multi. */
  readonly staged: string;
  readonly log: Log;
  readonly tenant: Tenant;
  /** Fails, and the turn's commit with it, once the tenant has a newer layout than this context was made from. */
  readonly layoutCheck: Operation;
  readonly layoutVersion: number;
  readonly pipeline: Pipeline;
  /** It is not in the layout any more and only finishes the items it holds. */
  readonly retired: boolean;
  readonly events: EventQueue<PipelineEvent>;
  readonly tenantsOf: LandedConfigurationDeps['tenantsOf'];
  readonly graphs: JobGraphs;
  readonly changes: Pick<ChangeCache, 'operations' | 'remember' | 'fresh' | 'conflict'>;
  readonly facts: ChangeFactsDeps;
  readonly rechecks: Rechecks;
  readonly freezing: FreezeContext;
  readonly commanding: CommandContext;
  readonly committing: CommitContext;
  readonly expected: ExpectedDurations;
  /** Undefined: metrics are off. */
  readonly metrics: MetricsSink | undefined;
  /** Undefined: tracing is off. */
  readonly tracePolicy: () => TracePolicy | undefined;
}
