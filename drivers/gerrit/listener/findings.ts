/** Events about what a listing shows. The same state found twice has the same id, and is processed once. Pure. */
import type { NewConnectionEvent } from '../../../src/driver/intake.ts';
import type { Nanoseconds } from '../../../src/lib/clock.ts';
import { sha256 } from '../../../src/lib/ids.ts';
import type { ChangeInfo } from '../api/change-info.ts';
import { type FoundBy, type GerritNotification, gerritNotificationJson } from '../intake/notification.ts';

/** How a listing came about. */
export type ListedBy = Extract<FoundBy, 'catch-up' | 'poll'>;

/** Differs when anything that pipelines look at does. Gerrit's times are whole seconds: messages and votes are counted in. */
export function listedStateDigest(info: ChangeInfo): string {
  const { updatedAt, status, branch, wip, topic, hashtags, messages, labels, revision } = info;
  const votes = labels.map(({ name, votes: given }) => [name, given.map(({ by, value }) => [by.id, value])]);
  const last = messages.at(-1)?.id ?? '';
  const facts = [updatedAt, status, branch, wip, info.private, topic, hashtags];
  return sha256(JSON.stringify([facts, messages.length, last, votes, revision.commit])).slice(0, 16);
}

/** A change that differs from what is known of it. */
export function foundChange(
  info: ChangeInfo,
  facts: { readonly foundBy: ListedBy; readonly readAt: Nanoseconds; readonly isFirstLook: boolean },
): NewConnectionEvent {
  const { number, project, revision } = info;
  const about = {
    kind: 'change',
    number,
    patchset: revision.number,
    readAt: facts.readAt,
    ...(facts.isFirstLook ? { isFirstLook: true as const } : {}),
  } as const;
  return found(project, facts.foundBy, about, `${number} ${listedStateDigest(info)}`);
}

/** A branch that moved. Null: it was not there, or is gone. */
export function foundBranch(
  project: string,
  move: { readonly ref: string; readonly before: string | null; readonly after: string | null },
  foundBy: ListedBy,
  at: Nanoseconds,
): NewConnectionEvent {
  return found(project, foundBy, { kind: 'ref', ...move }, `${move.ref} ${move.after} ${at}`);
}

/** A project that was not watched for a while. */
export function foundProject(project: string, foundBy: ListedBy, at: Nanoseconds): NewConnectionEvent {
  return found(project, foundBy, { kind: 'project' }, at);
}

function found(
  project: string,
  foundBy: ListedBy,
  about: GerritNotification['about'],
  state: string,
): NewConnectionEvent {
  const notification: GerritNotification = { event: foundBy, foundBy, project, about };
  const id = sha256(JSON.stringify([project, about.kind, state])).slice(0, 32);
  return { deliveryId: `found-${id}`, type: foundBy, foundBy, payload: gerritNotificationJson(notification) };
}
