/** Whether the code host would land a change as a pipeline does, as the driver judges from the change cache. */
import type { Driver } from '../../driver/driver.ts';
import type { ChangeRecord } from '../../model/change.ts';
import { projectIdOf } from '../../model/project.ts';
import type { ChangeFacts } from '../../pipeline/turn.ts';
import type { PipelineContext } from '../turn/pipeline-context.ts';

type LandingContext = Pick<PipelineContext, 'tenant' | 'pipeline' | 'mergeMode'>;

/** Empty for a ref, where no success reporter lands the change, and where the driver knows no rules of its host. */
export function landingVerdict(
  record: ChangeRecord,
  { tenant, pipeline: { name, reporters }, mergeMode }: LandingContext,
  driver: Driver | undefined,
): Pick<ChangeFacts, 'landing'> {
  if (driver?.mergeability === undefined || record.change.kind !== 'change') return {};
  const { config, mergeability } = driver;
  const { connection } = projectIdOf(record.change.project);
  const own = reporters.success.filter(reporter => reporter.connection === connection);
  const mode = own.map(reporter => config.landingMode(reporter.config)).find(each => each !== null);
  if (mode === undefined) return {};
  const ourVotes = own.map(reporter =>
    mergeability.votesOf(reporter.config, { tenant: tenant.name, pipeline: name }),
  );
  return {
    landing: mergeability.canLand(record, {
      ourVotes,
      mode,
      mergeMode: mergeMode(record.change),
    }),
  };
}
