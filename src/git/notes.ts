/**
 * Appends to git notes of a remote, for hosts without another place for a vote or a comment. Plain `git notes` writes them (it
 * knows the fan-out of large note trees); after a lost race the notes are fetched and written again.
 *
 * Notes requested while others are written go together: one fetch and one push for all of them.
 */

import { createBatcher } from './batcher.ts';
import { isWorthAnotherTry } from './failure-table.ts';
import type { FetchOutcome } from './fetch.ts';
import type { Git, GitResult } from './git.ts';
import type { ObjectId } from './object-id.ts';
import type { ObjectReader } from './object-reader.ts';
import { pastLocks } from './past-locks.ts';
import { pathName } from './path-name.ts';
import type { PushOutcome, RefChange } from './push.ts';
import type { RefName } from './ref-name.ts';
import type { Remote } from './remote.ts';
import { type RemoteFailure, remoteFailure } from './remote-failure.ts';

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
  /** The remote's rules forbid it. */
  | { readonly kind: 'rejected'; readonly message: string }
  | RemoteFailure;

/** One mirror. `fetch` brings the notes at once, without the queue of other fetches. */
export interface NotesDeps {
  readonly git: Git;
  readonly gitDir: string;
  readonly reader: ObjectReader;
  readonly push: (remote: Remote, changes: readonly RefChange[]) => Promise<PushOutcome>;
  readonly fetch: (remote: Remote, ref: RefName) => Promise<FetchOutcome>;
}

const TRIES = 8;

/** A note and its remote. Jobs that go together use the remote of the latest. */
export interface NoteJob {
  readonly remote: Remote;
  readonly note: NoteRequest;
}

/** A queue of its own: fetches and listings do not wait for notes. */
export function createNoteLane(deps: NotesDeps): (job: NoteJob) => Promise<NoteOutcome> {
  return createBatcher(jobs => appendNotes(deps, jobs));
}

/** One outcome per job, in order. */
async function appendNotes(deps: NotesDeps, jobs: readonly NoteJob[]): Promise<readonly NoteOutcome[]> {
  const outcomes: NoteOutcome[] = [];
  for (const ref of new Set(jobs.map(({ note }) => note.ref))) {
    const here = [...jobs.entries()].filter(([, { note }]) => note.ref === ref);
    const appended = await appendTogether(
      deps,
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
  deps: NotesDeps,
  ref: RefName,
  jobs: readonly NoteJob[],
): Promise<readonly NoteOutcome[]> {
  // Credentials may have been renewed: the latest request has the newest.
  const remote = jobs.at(-1)?.remote;
  if (remote === undefined) return [];
  const all = (outcome: NoteOutcome) => jobs.map(() => outcome);
  let said = '';
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const fetched = await deps.fetch(remote, ref);
    if (fetched.kind !== 'fetched') return all(fetched);
    const before = fetched.commits[0] ?? null;
    const { tip, outcomes } = await writeNotes(deps, ref, before, jobs);
    if (tip === before || tip === null) return outcomes;
    const pushed = await deps.push(remote, [{ ref, from: before, to: tip }]);
    if (pushed.kind === 'pushed') return outcomes;
    if (pushed.kind === 'remote-failed') return all(pushed);
    const [{ reason, nature, message }] = pushed.rejections;
    said = message;
    if (reason === 'stale') continue;
    if (!isWorthAnotherTry(nature)) return all({ kind: 'rejected', message });
    break;
  }
  return all({ kind: 'remote-failed', reason: 'locked', nature: 'host', message: said });
}

/**
 * The new tip of the notes; `before` when there was nothing to add. `git notes` needs a ref below `refs/notes/`: this one is
 * private to the process, because others may use the same mirror.
 */
async function writeNotes(
  deps: NotesDeps,
  ref: RefName,
  before: ObjectId | null,
  jobs: readonly NoteJob[],
): Promise<{ readonly tip: ObjectId | null; readonly outcomes: readonly NoteOutcome[] }> {
  const { git, gitDir, reader } = deps;
  const scratch = `refs/notes/${pathName(ref)}-${process.pid}`;
  try {
    const start = before === null ? ['update-ref', '-d', scratch] : ['update-ref', scratch, before];
    need(await pastLocks(gitDir, () => git.run(start, { gitDir })));
    const outcomes: NoteOutcome[] = [];
    for (const { note } of jobs) outcomes.push(await appendAt(scratch, deps, note));
    return { tip: (await reader.resolve(scratch)) ?? null, outcomes };
  } finally {
    await git.run(['update-ref', '-d', scratch], { gitDir });
  }
}

async function appendAt(
  scratch: string,
  { git, gitDir }: NotesDeps,
  { commit, text }: NoteRequest,
): Promise<NoteOutcome> {
  const present = await git.run(['notes', `--ref=${scratch}`, 'show', commit], { gitDir });
  if (present.kind === 'ok' && holds(present.stdout.toString('utf8'), text)) return { kind: 'already-there' };
  const appended = await git.run(['notes', `--ref=${scratch}`, 'append', '-F', '-', commit], {
    gitDir,
    input: text,
  });
  // Concerns this note alone: the others are written.
  return appended.kind === 'ok' ? { kind: 'added' } : remoteFailure(appended);
}

function holds(note: string, paragraph: string): boolean {
  return `\n\n${note.trim()}\n\n`.includes(`\n\n${paragraph.trim()}\n\n`);
}

function need(result: GitResult): void {
  if (result.kind !== 'ok') throw new Error(`git notes: ${remoteFailure(result).message}`);
}
