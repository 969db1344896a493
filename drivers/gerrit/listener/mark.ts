/**
 * How far the listener has looked at Gerrit, over restarts and changes of the process: an entry of the driver's memory, which only
 * processing writes. So the listener stores an event about it behind the events of a complete pass.
 *
 *     listener   { event: 'mark', about: { kind: 'mark', until: '1795…', projects: ['9f86d08188', …] } }
 *     source     processMark(notification) → memory seen = { until, projects }
 *     listener   recallMark(memory) at its next start: changes updated since `until` are listed
 */
import type { DriverMemory } from '../../../src/driver/driver-memory.ts';
import type { NewConnectionEvent } from '../../../src/driver/intake.ts';
import { isMapping } from '../../../src/driver/read-mapping.ts';
import type { ProcessedEvent } from '../../../src/driver/source.ts';
import { type Nanoseconds, parseNanoseconds } from '../../../src/lib/clock.ts';
import { sha256 } from '../../../src/lib/ids.ts';
import { type GerritNotification, gerritNotificationJson } from '../intake/notification.ts';

/** Key in the driver's memory. */
const MARK_KEY = 'seen';

/** Type of the events that carry a mark. */
const MARK_EVENT = 'mark';

/** Everything that was updated at Gerrit by `until` was seen. */
export interface ListenerMark {
  /** By Gerrit's clock. */
  readonly until: Nanoseconds;
  /** {@link projectDigest} of the projects it holds for. */
  readonly projects: ReadonlySet<string>;
}

/** Short name of a project in a mark: of equal ones one project is listed without its first look. */
export function projectDigest(project: string): string {
  return sha256(project).slice(0, 10);
}

/** @returns undefined: none is remembered, or not in this form; every project is looked at as a new one. @throws as the store does. */
export async function recallMark(memory: DriverMemory): Promise<ListenerMark | undefined> {
  const value = await memory.get(MARK_KEY);
  if (!isMapping(value)) return undefined;
  const { until, projects } = value;
  if (typeof until !== 'string' || !/^\d{1,20}$/.test(until) || !Array.isArray(projects)) return undefined;
  return {
    until: parseNanoseconds(until),
    projects: new Set(projects.filter(each => typeof each === 'string')),
  };
}

/** The event to store behind those of the pass. The same mark is stored once. */
export function markEvent({ until, projects }: ListenerMark): NewConnectionEvent {
  const about = { kind: 'mark', until, projects: [...projects].toSorted() } as const;
  const notification: GerritNotification = { event: MARK_EVENT, foundBy: 'catch-up', project: '', about };
  return {
    deliveryId: `mark-${sha256(JSON.stringify(about)).slice(0, 32)}`,
    type: MARK_EVENT,
    payload: gerritNotificationJson(notification),
  };
}

/** What processing makes of the event: one entry of memory. */
export function processMark({
  until,
  projects,
}: Extract<GerritNotification['about'], { kind: 'mark' }>): ProcessedEvent {
  return {
    events: [],
    changes: [],
    updated: [],
    memory: [{ key: MARK_KEY, value: { until, projects } }],
    refusals: [],
    discarded: 'the listener has remembered how far it has looked',
  };
}
