/** Every write to a change is a commit of its `refs/changes/…/meta`: the stream shows it before the event itself. */
import { writeNote, writeRefFile } from '../bare-git.ts';
import { refUpdated } from '../events.ts';
import {
  type ChangeState,
  changeState,
  currentPatchSet,
  type EmittedEvent,
  type FakeAccount,
  type FakeChange,
  type GerritWorld,
  type HistoryMessage,
} from '../world.ts';

export interface NotedMessage {
  readonly text: string;
  readonly tag: string | null;
  /** Absent: the current one. */
  readonly patchSet?: number;
}

export function metaRef(number: number): string {
  return `${changeRefs(number)}/meta`;
}

/** `refs/changes/12/12`, without what follows. */
export function changeRefs(number: number): string {
  return `refs/changes/${String(number % 100).padStart(2, '0')}/${number}`;
}

/**
 * Takes `fields` and the message into the change, and writes its note.
 *
 * @returns the event of the note, which is not sent yet: of several changes the notes come first
 */
export async function note(
  world: GerritWorld,
  change: FakeChange,
  by: FakeAccount | null,
  fields: Partial<ChangeState>,
  message?: NotedMessage,
): Promise<EmittedEvent> {
  const { dir } = change.project;
  const before = change.meta === '' ? null : change.meta;
  const text = `${message?.text ?? 'Update patch set'}\n\nSerial: ${world.nextId()}`;
  const who = by ?? { name: 'Gerrit Code Review', email: 'gerrit@127.0.0.1' };
  const meta = await writeNote(dir, { parent: before, text, by: who, at: world.now() });
  await writeRefFile(dir, metaRef(change.number), meta);
  change.meta = meta;
  const noted: readonly HistoryMessage[] =
    message === undefined
      ? []
      : [
          {
            id: meta,
            author: by,
            at: world.now(),
            text: message.text,
            tag: message.tag,
            patchSet: message.patchSet ?? currentPatchSet({ ...change.now, ...fields }).number,
          },
        ];
  const comments = fields.comments?.map(each =>
    each.messageId === '' ? { ...each, messageId: meta } : each,
  );
  const own = comments === undefined ? fields : { ...fields, comments };
  changeState(world, change, { ...own, messages: [...change.now.messages, ...noted] });
  const ref = metaRef(change.number);
  return refUpdated(world, { project: change.project, ref, before, after: meta, by });
}
