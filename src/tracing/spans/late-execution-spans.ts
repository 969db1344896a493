/**
 * `JobExecution` → steps of a build whose item left before the executor had stopped it. Its `Build` was exported when it was cancelled,
 * and its id is derived from the build's uuid, so spans of the job itself (below its playbook) have their parent, too.
 */
import type { Nanoseconds } from '../../lib/clock.ts';
import type { Uuid } from '../../lib/ids.ts';
import type { Execution } from '../../model/build.ts';
import type { BuildTrace } from '../../model/build-request.ts';
import type { JobName, PipelineName, TenantName } from '../../model/project.ts';
import type { SpanRecord } from '../../model/span.ts';
import { attributesOf } from '../attribute-values.ts';
import { planExecution } from './execution-spans.ts';
import type { SpanOptions } from './span-options.ts';
import { workerAttributes } from './worker-attributes.ts';

/** From the build's result, which came after the item had left: the item's record is gone. */
export interface LateExecution {
  readonly tenant: TenantName;
  readonly pipeline: PipelineName;
  readonly item: Uuid;
  readonly buildset: Uuid;
  readonly build: Uuid;
  readonly job: JobName;
  /** From 1. */
  readonly attempt: number;
  readonly worker: string | null;
  readonly trace: BuildTrace;
  readonly requestedAt: Nanoseconds;
  /** End of its `Build` span: no span below may end later. */
  readonly cancelledAt: Nanoseconds;
  readonly execution: Execution;
}

/** None for an unsampled trace. The result is `CANCELED`, also of a build that succeeded before it could be stopped. */
export function lateExecutionSpans(late: LateExecution, options: SpanOptions): readonly SpanRecord[] {
  const { tenant, pipeline, item, build, job, trace, worker } = late;
  if (!trace.sampled) return [];
  const common = attributesOf('Wait', {
    tenant,
    pipeline,
    itemId: item,
    eventId: trace.event,
    cicdPipeline: pipeline,
    cicdRunId: item,
    cicdRunUrl: options.urls?.item({ tenant, uuid: item }),
  });
  const context = {
    draft: { traceId: trace.traceId, style: options, common },
    withChange: () => common,
  };
  const plans = planExecution(
    context,
    {
      uuid: build,
      job,
      result: 'CANCELED',
      ownTrace: trace.own === true,
      own: {
        buildsetId: late.buildset,
        buildId: build,
        job,
        attempt: late.attempt,
        ...workerAttributes(worker),
        cicdTask: job,
        cicdTaskId: build,
        cicdTaskUrl: options.urls?.build({ tenant }, build),
      },
    },
    { id: () => trace.buildSpan, start: late.requestedAt, end: late.cancelledAt },
    late.execution,
  );
  return plans.map(plan => plan.make());
}
