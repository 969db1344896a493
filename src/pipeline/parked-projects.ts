/** The code hosts in trouble, as recorded on the items of a pipeline. */
import { laterOf } from '../lib/clock.ts';
import type { Uuid } from '../lib/ids.ts';
import type { HostWait, HostWork } from '../model/host-trouble.ts';
import type { ProjectKey } from '../model/project.ts';
import type { QueueItem } from '../model/queue-item.ts';

/** A project whose host is in trouble. */
export interface Parked {
  /** The wait with the latest retry. */
  readonly wait: HostWait;
  /** Items that ask now, as far as they still do: see {@link isAsking}. Some twice. */
  readonly askers: Uuid[];
}

/** By {@link HostWork} and project. */
export type ParkedProjects = Map<string, Parked>;

/** Of several waits for one project and work, the one with the latest retry counts. */
export function parkedProjects(items: Iterable<QueueItem>): ParkedProjects {
  const parked: ParkedProjects = new Map();
  const all = [...items];
  for (const item of all) {
    const wait = item.hostWait;
    if (wait === undefined || !isShared(wait)) continue;
    const key = keyOf(wait.doing, wait.project);
    const known = parked.get(key);
    const askers = known?.askers ?? [];
    if (isAsking(item, wait.doing)) askers.push(item.uuid);
    const last =
      known !== undefined && laterOf(known.wait.retryAt, wait.retryAt) === known.wait.retryAt
        ? known.wait
        : wait;
    parked.set(key, { wait: last, askers });
  }
  if (parked.size > 0) for (const item of all) noteAsking(item, parked);
  return parked;
}

/** An item that does not wait itself asks as well: it was reset, or came in before the trouble. */
function noteAsking(item: QueueItem, parked: ParkedProjects): void {
  for (const doing of ['merge', 'report'] as const) {
    if (!isAsking(item, doing)) continue;
    for (const { project } of item.changes) parked.get(keyOf(doing, project))?.askers.push(item.uuid);
  }
}

/** A missing or too large ref concerns only the items that need it. */
export function isShared({ reason }: Pick<HostWait, 'reason'>): boolean {
  return reason !== 'missing-ref' && reason !== 'too-large';
}

/** The key in {@link ParkedProjects}. */
export function keyOf(doing: HostWork, project: ProjectKey): string {
  return `${doing} ${project}`;
}

/** Whether the item has a request under way whose answer shows if the host serves again; builds never count. */
export function isAsking({ buildset: { stage }, phase }: QueueItem, doing: HostWork): boolean {
  switch (doing) {
    case 'merge':
      return stage.state === 'merging' || stage.state === 'repo-state';
    case 'report':
      return phase.phase === 'reporting';
    case 'build':
      return false;
  }
}
