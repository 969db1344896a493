/**
 * What is kept of a stream line, a webhook or a finding: which thing to read at Gerrit. What happened to a change follows from reading it,
 * who did it included, so that a lost, doubled, late or swapped event ends in the same state.
 *
 *     { event: 'comment-added', foundBy: 'stream', project: 'acme/app', about: { kind: 'change', number: 12, patchset: 2 } }
 */
import { isMapping } from '../../../src/driver/read-mapping.ts';
import type { Nanoseconds } from '../../../src/lib/clock.ts';
import type { Json } from '../../../src/model/job.ts';

/** How an event came to us. */
export type FoundBy = 'stream' | 'webhook' | 'catch-up' | 'poll';

/** The form of a stored notification. */
export interface GerritNotification {
  /** Gerrit's type, e.g. `patchset-created`; of a finding its `foundBy`. */
  readonly event: string;
  readonly foundBy: FoundBy;
  /** E.g. `acme/app`. */
  readonly project: string;
  readonly about:
    | {
        readonly kind: 'change';
        readonly number: number;
        /** The patch set the event names: an answer that does not know it yet is older than the event. Null: it names none. */
        readonly patchset: number | null;
        /** Of `change-deleted`. */
        readonly isDeleted?: true;
        /** A finding: what was read by then is new enough. Absent: what was read before the event came in is too old. */
        readonly readAt?: Nanoseconds;
        /** The project was not watched before: what happened to the change up to now is remembered, and nothing is made of it. */
        readonly isFirstLook?: true;
      }
    /** A branch or tag moved. Null: it was not there, or is gone. */
    | {
        readonly kind: 'ref';
        readonly ref: string;
        readonly before: string | null;
        readonly after: string | null;
      }
    /** The project was created, its HEAD moved, or it was not watched for a while: its branches are read again. */
    | { readonly kind: 'project' }
    /** How far the listener has looked; `project` is empty. Processing it remembers that (`listener/mark.ts`), in a lane of its own. */
    | {
        readonly kind: 'mark';
        readonly until: Nanoseconds;
        readonly projects: readonly string[];
      };
}

/** @returns undefined: not in the form that {@link GerritNotification} has. The store keeps what intake or listener made, unchanged. */
export function readGerritNotification(payload: Json): GerritNotification | undefined {
  if (!isMapping(payload) || !isMapping(payload.about)) return undefined;
  const { event, foundBy, project, about } = payload;
  const texts = [event, foundBy, project].every(each => typeof each === 'string');
  return texts && isAbout(payload.about) && about !== null
    ? (payload as object as GerritNotification)
    : undefined;
}

function isAbout({ kind, number, ref }: { readonly [name: string]: Json }): boolean {
  if (kind === 'change') return Number.isSafeInteger(number);
  return kind === 'project' || kind === 'mark' || (kind === 'ref' && typeof ref === 'string');
}

/** In the form that {@link readGerritNotification} reads. */
export function gerritNotificationJson(notification: GerritNotification): Json {
  return JSON.parse(JSON.stringify(notification));
}
