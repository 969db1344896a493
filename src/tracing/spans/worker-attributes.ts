import type { AttributeInput } from '../attribute-values.ts';

/** The worker, as our attribute and as OpenTelemetry's; none until it is taken. */
export function workerAttributes(worker: string | null | undefined): AttributeInput {
  return { worker, cicdWorker: worker, cicdWorkerId: worker };
}
