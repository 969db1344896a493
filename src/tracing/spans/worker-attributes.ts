import type { AttributeInput } from '../attribute-values.ts';

/** Who did it, in our word and in OpenTelemetry's; none while nobody has taken it. */
export function workerAttributes(worker: string | null | undefined): AttributeInput {
  return { worker, cicdWorker: worker, cicdWorkerId: worker };
}
