/**
 * Appending to git notes of a remote, for hosts that have nowhere else to keep a vote or a comment. Plain `git notes` does the
 * writing (it knows the fan-out of large note trees); a lost race is repeated on the fresh notes.
 */

import type { FetchOutcome } from './fetch.ts';
import type { Git, GitResult } from './git.ts';
import type { ObjectId } from './object-id.ts';
import type { ObjectReader } from './object-reader.ts';
import { pathName } from './path-name.ts';
import { push } from './push.ts';
import type { RefName } from './ref-name.ts';
import type { Remote } from './remote.ts';
import { type RemoteFailure, remoteFailure } from './remote-failure.ts';

export interface NoteRequest {
  /** Full name, e.g. `refs/notes/gatehouse`. */
  readonly ref: RefName;
  /** Commit the note is about. */
  readonly commit: ObjectId;
  /** A paragraph; added after a blank line. A paragraph that is there already is not added again, so a repeat after a crash is harmless. */
  readonly text: string;
}

export type NoteOutcome =
  | { readonly kind: 'added' }
  | { readonly kind: 'already-there' }
  /** The remote's rules forbid it, or others were faster every time. */
  | { readonly kind: 'rejected'; readonly message: string }
  | RemoteFailure;

export interface NotesDeps {
  readonly git: Git;
  readonly gitDir: string;
  readonly reader: ObjectReader;
  readonly fetch: (remote: Remote, ref: RefName) => Promise<FetchOutcome>;
}

const TRIES = 8;

export async function appendNote(
  deps: NotesDeps,
  remote: Remote,
  request: NoteRequest,
): Promise<NoteOutcome> {
  let message = '';
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const fetched = await deps.fetch(remote, request.ref);
    if (fetched.kind !== 'fetched') return fetched;
    const before = fetched.commits[0] ?? null;
    const written = await writeNote(deps, request, before);
    if (written === undefined) return { kind: 'already-there' };
    const pushed = await push(deps.git, deps.gitDir, remote, [
      { ref: request.ref, from: before, to: written },
    ]);
    if (pushed.kind === 'pushed') return { kind: 'added' };
    if (pushed.kind === 'remote-failed') return pushed;
    message = pushed.rejections[0].message;
    if (pushed.rejections[0].reason !== 'stale') break;
  }
  return { kind: 'rejected', message };
}

/**
 * The new tip of the notes, or undefined when the paragraph is there. `git notes` wants a ref below `refs/notes/`: ours is a
 * scratch one, for this process alone, because others may be at work in the same mirror.
 */
async function writeNote(
  deps: NotesDeps,
  request: NoteRequest,
  before: ObjectId | null,
): Promise<ObjectId | undefined> {
  const scratch = `refs/notes/${pathName(request.ref)}-${process.pid}`;
  try {
    return await appendAt(scratch, deps, request, before);
  } finally {
    await deps.git.run(['update-ref', '-d', scratch], { gitDir: deps.gitDir });
  }
}

async function appendAt(
  scratch: string,
  { git, gitDir, reader }: NotesDeps,
  request: NoteRequest,
  before: ObjectId | null,
): Promise<ObjectId | undefined> {
  need(
    await git.run(before === null ? ['update-ref', '-d', scratch] : ['update-ref', scratch, before], {
      gitDir,
    }),
  );
  const present = await git.run(['notes', `--ref=${scratch}`, 'show', request.commit], { gitDir });
  if (present.kind === 'ok' && holds(present.stdout.toString('utf8'), request.text)) return undefined;
  need(
    await git.run(['notes', `--ref=${scratch}`, 'append', '-F', '-', request.commit], {
      gitDir,
      input: request.text,
    }),
  );
  return reader.resolve(scratch);
}

function holds(note: string, paragraph: string): boolean {
  return `\n\n${note.trim()}\n\n`.includes(`\n\n${paragraph.trim()}\n\n`);
}

function need(result: GitResult): void {
  if (result.kind !== 'ok') throw new Error(`git notes: ${remoteFailure(result).message}`);
}
