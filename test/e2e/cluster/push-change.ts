/** A developer proposes and approves one change, and the code host sends its webhook. */
import type { Deliveries } from './deliveries.ts';
import { changeId, type PlannedChange } from './load.ts';
import type { HostedProject } from './repositories.ts';

export interface Pushed extends PlannedChange {
  readonly commit: string;
  /** Of its webhook; undefined: the code host sent none. */
  readonly delivery: string | undefined;
}

export interface CodeHost {
  readonly projects: ReadonlyMap<string, HostedProject>;
  readonly deliveries: Deliveries;
}

/** How often the code host sends its webhook; `never`: a poll finds the change. */
export type Webhooks = 'once' | 'twice' | 'never';

/** Resolves when some web took the webhook. */
export async function pushChange(host: CodeHost, change: PlannedChange, sent: Webhooks): Promise<Pushed> {
  const [pushed] = await pushChanges(host, change.project, [change], sent);
  if (pushed === undefined) throw new Error(`${change.topic} was not pushed`);
  return pushed;
}

/** All in one push to one project. */
export async function pushChanges(
  host: CodeHost,
  name: string,
  changes: readonly PlannedChange[],
  sent: Webhooks,
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
  const delivery = sent === 'never' ? undefined : await host.deliveries.deliver(name);
  if (sent === 'twice') await host.deliveries.repeat(name, delivery ?? '');
  return made.map(each => ({ ...each, delivery }));
}
