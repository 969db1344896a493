/** All that one pipeline's turns need, put together anew whenever the tenant's layout changes. */
import type { Clock } from '../lib/clock.ts';
import type { IdMaker } from '../lib/ids.ts';
import type { Log } from '../lib/log.ts';
import type { PipelineEvent } from '../model/event.ts';
import type { Tenant } from '../model/layout.ts';
import type { Pipeline } from '../model/pipeline.ts';
import type { EventQueue } from '../store/event-queue.ts';
import type { ChangeCache } from './change-cache.ts';
import type { ChangeFactsDeps } from './change-facts.ts';
import type { CommandContext } from './commands.ts';
import type { CommitContext } from './commit-turn.ts';
import type { FreezeContext } from './freeze-buildset.ts';
import type { JobGraphs } from './job-graphs.ts';

export interface PipelineContext {
  readonly clock: Clock;
  readonly ids: IdMaker;
  readonly log: Log;
  readonly tenant: Tenant;
  readonly pipeline: Pipeline;
  readonly events: EventQueue<PipelineEvent>;
  readonly graphs: JobGraphs;
  readonly changes: Pick<ChangeCache, 'operations' | 'remember'>;
  readonly facts: ChangeFactsDeps;
  readonly freezing: FreezeContext;
  readonly commanding: CommandContext;
  readonly committing: CommitContext;
}
