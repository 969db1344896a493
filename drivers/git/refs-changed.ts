/** The one kind of event a git connection knows: the refs of a project may be different. It says nothing about how: the remote is asked. */
import type { NewConnectionEvent } from '../../src/driver/intake.ts';
import type { ConnectionEvent } from '../../src/model/event.ts';
import { type ConnectionName, type ProjectKey, projectKey } from '../../src/model/project.ts';

const REFS_CHANGED = 'refs-changed';

/**
 * @param name of the project on its connection, e.g. `acme/app`.
 * @param found a poll found it.
 */
export function refsChanged(name: string, deliveryId: string, found = false): NewConnectionEvent {
  const payload = found ? { project: name, polled: true } : { project: name };
  return { type: REFS_CHANGED, deliveryId, payload };
}

/** A poll found it, no webhook. */
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
