/**
 * Gerrit shows a change no more: it was deleted, or hidden from us (made private, its branch's rights changed). An open one leaves its
 * pipelines, as an abandoned one does. A Gerrit that hides the whole project is ill, or our account is: that says nothing of a change.
 */
import { nothingFound } from '../../../src/driver/host-finding.ts';
import { changeKey } from '../../../src/model/change.ts';
import { type ChangeMemory, changeMemoryKey, encodeChangeMemory } from './change-memory.ts';
import { goneChangeRecord } from './change-record.ts';
import { gerritLater } from './gerrit-later.ts';
import type { ChangeAbout, GerritFound, GerritProcessing } from './processing.ts';
import { isProjectVisible } from './read-ref.ts';

/** @param known what is remembered of the change. */
export async function processGoneChange(
  { number, isDeleted }: ChangeAbout,
  known: ChangeMemory | undefined,
  { notification, project, record, call, deps }: GerritProcessing,
): Promise<GerritFound> {
  const text = `Gerrit shows no change ${number}`;
  const gone = isDeleted === true ? 'deleted' : 'hidden';
  if (known === undefined && isDeleted === true) return nothingFound(text);
  if (known?.gone === gone || known?.gone === 'deleted') return nothingFound(text);
  const visible = await isProjectVisible(notification.project, call, deps.api);
  if (visible.kind !== 'ok') return { later: gerritLater(visible, `project ${notification.project}`) };
  if (known === undefined) return nothingFound(text);
  const stored = record(changeKey(project, String(number)));
  // It is known as private, so that showing it again is announced.
  const remembered: ChangeMemory = { ...known, gone, private: gone === 'hidden' || known.private };
  const memory = [{ key: changeMemoryKey(number), value: encodeChangeMemory(remembered) }];
  if (stored === undefined) return nothingFound(text, memory);
  const facts = { by: null, patchset: known.patchset };
  return {
    happened: isDeleted === true ? [{ type: 'change-deleted', change: stored.change, facts }] : [],
    changes: stored.status === 'open' ? [goneChangeRecord(stored, deps.clock.now())] : [],
    memory,
    discarded: text,
  };
}
