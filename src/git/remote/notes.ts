/**
 * Appends to git notes of a remote, for hosts without another place for a vote or a comment. The notes are written as objects
 * (`note-tree.ts`); after a lost race they are fetched and written again.
 *
 * Notes requested while others are written go together, with one push for all of them. Where our last push left the notes is
 * remembered: the next one takes that for granted, and its lease notices what another process wrote meanwhile.
 */

import type { ObjectId } from '../objects/object-id.ts';
import type { ObjectReader } from '../objects/object-reader.ts';
import type { ObjectWriter } from '../objects/object-writer.ts';
import type { RefName } from '../objects/ref-name.ts';
import type { Identity } from '../process/environment.ts';
import { isWorthAnotherTry } from '../process/failure-table.ts';
import type { Remote } from '../process/remote.ts';
import type { RemoteFailure } from '../process/remote-failure.ts';
import { createBatcher } from '../support/batcher.ts';
import { createLru, type Lru } from '../support/lru.ts';
import type { FetchOutcome } from './fetch.ts';
import { addToNotes } from './note-tree.ts';
import type { PushOutcome, RefChange } from './push.ts';

/** A paragraph for the note of one commit. */
export interface NoteRequest {
  /** Full name, e.g. `refs/notes/gatehouse`. */
  readonly ref: RefName;
  /** Commit the note is about. */
  readonly commit: ObjectId;
  /** A paragraph; added after a blank line. A paragraph that the note has is not added again, so a repetition after a crash is harmless. */
  readonly text: string;
}

/** `already-there`: an earlier call added it, e.g. before a crash. */
export type NoteOutcome =
  | { readonly kind: 'added' }
  | { readonly kind: 'already-there' }
  /** The remote's rules forbid it, or the note is too large. */
  | { readonly kind: 'rejected'; readonly message: string }
  | RemoteFailure;

/** One mirror. `fetch` brings the notes at once, without the queue of other fetches. */
export interface NotesDeps {
  readonly identity: Identity;
  readonly reader: ObjectReader;
  readonly writer: ObjectWriter;
  readonly fetch: (remote: Remote, ref: RefName) => Promise<FetchOutcome>;
  readonly push: (remote: Remote, changes: readonly RefChange[]) => Promise<PushOutcome>;
}

const TRIES = 8;
/** Refs of notes that are remembered, by URL and name. */
const MOST_KNOWN = 16;

/** A note and its remote. Jobs that go together use the remote of the latest. */
export interface NoteJob {
  readonly remote: Remote;
  readonly note: NoteRequest;
}

/** Where a ref of notes was after our last push. */
type KnownTips = Lru<string, ObjectId>;

/** A queue of its own: fetches and listings do not wait for notes. */
export function createNoteLane(deps: NotesDeps): (job: NoteJob) => Promise<NoteOutcome> {
  const known: KnownTips = createLru(MOST_KNOWN);
  return createBatcher(jobs => appendNotes(deps, known, jobs));
}

/** One outcome per job, in order. */
async function appendNotes(
  deps: NotesDeps,
  known: KnownTips,
  jobs: readonly NoteJob[],
): Promise<readonly NoteOutcome[]> {
  const outcomes: NoteOutcome[] = [];
  for (const ref of new Set(jobs.map(({ note }) => note.ref))) {
    const here = [...jobs.entries()].filter(([, { note }]) => note.ref === ref);
    const appended = await appendTogether(
      { ...deps, known },
      ref,
      here.map(([, job]) => job),
    );
    for (const [index, [at]] of here.entries()) {
      const outcome = appended[index];
      if (outcome !== undefined) outcomes[at] = outcome;
    }
  }
  return outcomes;
}

async function appendTogether(
  deps: NotesDeps & { readonly known: KnownTips },
  ref: RefName,
  jobs: readonly NoteJob[],
): Promise<readonly NoteOutcome[]> {
  // Credentials may have been renewed: the latest request has the newest.
  const remote = jobs.at(-1)?.remote;
  if (remote === undefined) return [];
  const { known } = deps;
  const place = `${remote.url} ${ref}`;
  const all = (outcome: NoteOutcome) => jobs.map(() => outcome);
  let said = '';
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const remembered = known.get(place);
    // What comes of it is remembered only when it is certain.
    known.delete(place);
    const found = remembered ?? (await fetchTip(deps, remote, ref));
    if (typeof found === 'object' && found !== null) return all(found);
    const { tip, outcomes } = await writeNotes(deps, found, jobs);
    // Only the host can say that they are there already.
    if (tip === found && remembered !== undefined) continue;
    if (tip === found || tip === null) return outcomes;
    const pushed = await deps.push(remote, [{ ref, from: found, to: tip }]);
    if (pushed.kind === 'pushed') {
      known.set(place, tip);
      return outcomes;
    }
    if (pushed.kind === 'remote-failed') return all(pushed);
    const [{ reason, nature, message }] = pushed.rejections;
    said = message;
    if (reason === 'stale') continue;
    if (!isWorthAnotherTry(nature)) return all({ kind: 'rejected', message });
    break;
  }
  return all({ kind: 'remote-failed', reason: 'locked', nature: 'host', message: said });
}

/** Null: the remote has no such notes. */
async function fetchTip(
  { fetch }: NotesDeps,
  remote: Remote,
  ref: RefName,
): Promise<ObjectId | null | RemoteFailure> {
  const fetched = await fetch(remote, ref);
  return fetched.kind === 'fetched' ? (fetched.commits[0] ?? null) : fetched;
}

/** The new tip of the notes; `before` when there was nothing to add. One commit holds all that is added. */
async function writeNotes(
  { reader, writer, identity }: NotesDeps,
  before: ObjectId | null,
  jobs: readonly NoteJob[],
): Promise<{ readonly tip: ObjectId | null; readonly outcomes: readonly NoteOutcome[] }> {
  const begun = before === null ? undefined : (await reader.commit(before)).tree;
  let tree = begun;
  const outcomes: NoteOutcome[] = [];
  for (const { note } of jobs) {
    const added = await addToNotes({ reader, writer }, tree, note.commit, note.text);
    if (added.kind === 'added') tree = added.tree;
    // Concerns this note alone: the others are written.
    outcomes.push(added.kind === 'too-large' ? { ...added, kind: 'rejected' } : { kind: added.kind });
  }
  if (tree === undefined || tree === begun) return { tip: before, outcomes };
  const tip = await writer.writeCommit({
    tree,
    parents: before === null ? [] : [before],
    identity,
    date: Math.floor(Date.now() / 1000),
    message: "Notes added by 'git notes append'",
  });
  return { tip, outcomes };
}
