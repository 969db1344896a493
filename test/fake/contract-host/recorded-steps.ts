/** Records the requests of one call of the driver, as spans have them. */
import type { HostSteps } from '../../../src/driver/host-steps.ts';
import type { Clock } from '../../../src/lib/clock.ts';
import { type ProjectKey, projectIdOf } from '../../../src/model/project.ts';
import type { Step } from '../../../src/model/step.ts';
import { HostError } from './faults.ts';

export interface RecordedSteps {
  /** Asks the host and records the request, failed ones as well. */
  ask<T>(operation: string, project: ProjectKey, work: () => Promise<T>): Promise<T>;
  /** What an answer, or an error, has of them. */
  taken(): Required<HostSteps>;
}

export function recordSteps(clock: Pick<Clock, 'now'>): RecordedSteps {
  const steps: Step[] = [];
  return {
    async ask(operation, project, work) {
      const startedAt = clock.now();
      let status = 200;
      try {
        return await work();
      } catch (error) {
        if (error instanceof HostError && typeof error.status === 'number') status = error.status;
        throw error;
      } finally {
        const facts = {
          ...{ query: operation, project, method: operation === 'read' ? 'GET' : 'POST', status },
          ...{
            resends: 0,
            cost: 1,
            remaining: 4_999,
            cached: false,
            requestId: `request-${steps.length + 1}`,
          },
        };
        const { name } = projectIdOf(project);
        steps.push({
          kind: 'HostQuery',
          subject: `${operation} ${name}`,
          startedAt,
          endedAt: clock.now(),
          facts,
        });
      }
    },
    taken: () => ({ steps: [...steps] }),
  };
}
