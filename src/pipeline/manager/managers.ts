/** The managers by their names in the configuration; complete by type. */
import type { ManagerName, Pipeline } from '../../model/pipeline.ts';
import { dependent } from './dependent.ts';
import { independent } from './independent.ts';
import type { Manager } from './manager.ts';
import { serial } from './serial.ts';
import { supercedent } from './supercedent.ts';

/** Where a turn finds the manager of its pipeline. */
export const MANAGERS: Readonly<Record<ManagerName, Manager>> = {
  independent,
  dependent,
  serial,
  supercedent,
};

/** That of a pipeline: an independent one may look at no dependencies. */
export function managerOf({
  manager,
  ignoresDependencies,
}: Pick<Pipeline, 'manager' | 'ignoresDependencies'>): Manager {
  return ignoresDependencies === true ? ALONE : MANAGERS[manager];
}

const ALONE: Manager = { ...independent, dependencies: 'ignored' };

/** Whether people may promote items of a pipeline with this manager. */
export function promotes(manager: ManagerName): boolean {
  return MANAGERS[manager].promotes;
}
