/** The one kind of notification of a git connection: the refs of a project may have changed. The driver reads the remote for the rest. */
import type { NewConnectionEvent } from '../../src/driver/intake.ts';
import type { ConnectionEvent } from '../../src/model/event.ts';
import { type ConnectionName, type ProjectKey, projectKey } from '../../src/model/project.ts';

const REFS_CHANGED = 'refs-changed';

/**
 * @param name of the project on its connection, e.g. `acme/app`.
 * @param found by a poll.
 */
export function refsChanged(name: string, deliveryId: string, found = false): NewConnectionEvent {
  const payload = found ? { project: name, polled: true } : { project: name };
  return { type: REFS_CHANGED, deliveryId, payload };
}

/** Found by a poll, not announced by a webhook. */
export function isPolled({ payload }: Pick<ConnectionEvent, 'payload'>): boolean {
  return typeof payload === 'object' && payload !== null && 'polled' in payload && payload.polled === true;
}

/** Undefined: not an event of ours. */
export function eventProject(
  event: Pick<ConnectionEvent, 'type' | 'payload'> & { readonly connection: ConnectionName },
): ProjectKey | undefined {
  const { type, payload, connection } = event;
  if (type !== REFS_CHANGED || typeof payload !== 'object' || payload === null || !('project' in payload))
    return undefined;
  const name = payload.project;
  return typeof name === 'string' ? projectKey({ connection, name }) : undefined;
}
