/** A developer proposes and approves one change, and the code host tells the gate. */
import type { Deliveries } from './deliveries.ts';
import { changeId, type PlannedChange } from './load.ts';
import type { HostedProject } from './repositories.ts';

export interface Pushed extends PlannedChange {
  readonly commit: string;
  /** Of the webhook that told of it. */
  readonly delivery: string;
}

export interface CodeHost {
  readonly projects: ReadonlyMap<string, HostedProject>;
  readonly deliveries: Deliveries;
}

/** Resolves when some web took the webhook. */
export async function pushChange(host: CodeHost, change: PlannedChange): Promise<Pushed> {
  const project = host.projects.get(change.project);
  if (project === undefined) throw new Error(`there is no project ${change.project}`);
  const commit = await project.commit(change.files, `Change ${change.topic}`);
  const id = changeId(change);
  await project.push({ [`refs/heads/for/${id}`]: commit, [`refs/heads/gate/${id}`]: commit });
  return { ...change, commit, delivery: await host.deliveries.deliver(change.project) };
}
