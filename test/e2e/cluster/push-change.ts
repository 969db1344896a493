/** A developer proposes and approves one change, and the code host tells the gate. */
import type { Deliveries } from './deliveries.ts';
import { changeId, type PlannedChange } from './load.ts';
import type { HostedProject } from './repositories.ts';

export interface Pushed extends PlannedChange {
  readonly commit: string;
  /** Of the webhook that told of it; undefined: the code host sent none. */
  readonly delivery: string | undefined;
}

export interface CodeHost {
  readonly projects: ReadonlyMap<string, HostedProject>;
  readonly deliveries: Deliveries;
}

/** How often the code host sends its webhook; `never`: a look on its own finds the change. */
export type Told = 'once' | 'twice' | 'never';

/** Resolves when some web took the webhook. */
export async function pushChange(host: CodeHost, change: PlannedChange, told: Told): Promise<Pushed> {
  const [pushed] = await pushChanges(host, change.project, [change], told);
  if (pushed === undefined) throw new Error(`${change.topic} was not pushed`);
  return pushed;
}

/** All in one push to one project. */
export async function pushChanges(
  host: CodeHost,
  name: string,
  changes: readonly PlannedChange[],
  told: Told,
): Promise<readonly Pushed[]> {
  const project = host.projects.get(name);
  if (project === undefined) throw new Error(`there is no project ${name}`);
  const refs: Record<string, string> = {};
  const made: Omit<Pushed, 'delivery'>[] = [];
  for (const change of changes) {
    const commit = await project.commit(change.files, `Change ${change.topic}`);
    refs[`refs/heads/for/${changeId(change)}`] = commit;
    refs[`refs/heads/gate/${changeId(change)}`] = commit;
    made.push({ ...change, commit });
  }
  await project.push(refs);
  const delivery = told === 'never' ? undefined : await host.deliveries.deliver(name);
  if (told === 'twice') await host.deliveries.repeat(name, delivery ?? '');
  return made.map(each => ({ ...each, delivery }));
}
