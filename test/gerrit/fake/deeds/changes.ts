/** What people do to changes. Rights are looked at, as if they had done it by REST; each deed resolves when its events were emitted. */
import { commitFiles, tipOf } from '../bare-git.ts';
import { changedFiles, changeIdIn, readCommit } from '../commits.ts';
import { editMessage } from '../doing/edit-message.ts';
import { type CommentInput, review } from '../doing/review.ts';
import { addReviewer, deleteReviewer, deleteVote } from '../doing/reviewers.ts';
import {
  abandon,
  deleteChange,
  move,
  restore,
  setHashtags,
  setPrivate,
  setTopic,
  setWip,
} from '../doing/settings.ts';
import { submit } from '../doing/submit.ts';
import { type UploadOptions, upload } from '../doing/upload.ts';
import {
  accountNamed,
  currentPatchSet,
  type FakeChange,
  type GerritWorld,
  newChangeId,
  projectNamed,
} from '../world.ts';
import type { Files } from './projects.ts';

/** A change, or its number. */
export type ChangeName = FakeChange | number;

export interface PushRequest extends UploadOptions {
  readonly project: string;
  /** Absent: the project's HEAD. */
  readonly branch?: string;
  readonly files: Files;
  /** Subject or whole message; a Change-Id is added where there is none. */
  readonly message?: string;
  /** Change or commit that it is built on; absent: the tip of the branch. */
  readonly on?: ChangeName | string;
  /** Username; absent: `alice`. */
  readonly as?: string;
  readonly changeId?: string;
}

export interface AmendRequest {
  readonly files?: Files;
  /** Absent: the one it has. */
  readonly message?: string;
  /** Absent: the parent that it has. */
  readonly on?: ChangeName | string;
  readonly as?: string;
}

export interface ChangeDeeds {
  /** A new change with one commit, as `git push … refs/for/<branch>` makes it. */
  push(request: PushRequest): Promise<FakeChange>;
  /** A new patch set: the files of the last one with these. */
  amend(change: ChangeName, request?: AmendRequest): Promise<FakeChange>;
  /** Throws RestRefused where Gerrit would refuse. */
  vote(
    change: ChangeName,
    who: string,
    labels: { readonly [label: string]: number },
    message?: string,
    patchSet?: number,
  ): Promise<void>;
  comment(
    change: ChangeName,
    who: string,
    message: string,
    more?: {
      tag?: string;
      patchSet?: number;
      comments?: { readonly [path: string]: readonly CommentInput[] };
    },
  ): Promise<void>;
  deleteVote(change: ChangeName, by: string, of: string, label: string): Promise<void>;
  addReviewer(change: ChangeName, by: string, reviewer: string, state?: 'REVIEWER' | 'CC'): Promise<void>;
  deleteReviewer(change: ChangeName, by: string, reviewer: string): Promise<void>;
  abandon(change: ChangeName, who?: string, reason?: string): Promise<void>;
  restore(change: ChangeName, who?: string, reason?: string): Promise<void>;
  setWip(change: ChangeName, wip: boolean, who?: string): Promise<void>;
  setPrivate(change: ChangeName, isPrivate: boolean, who?: string): Promise<void>;
  setTopic(change: ChangeName, topic: string | null, who?: string): Promise<void>;
  setHashtags(
    change: ChangeName,
    request: { add?: readonly string[]; remove?: readonly string[] },
    who?: string,
  ): Promise<void>;
  editMessage(change: ChangeName, message: string, who?: string): Promise<void>;
  move(change: ChangeName, branch: string, who?: string): Promise<void>;
  deleteChange(change: ChangeName, who?: string): Promise<void>;
  submit(change: ChangeName, who?: string): Promise<void>;
  /** @throws Error if there is no such change */
  change(number: number): FakeChange;
}

export function changeDeeds(world: GerritWorld): ChangeDeeds {
  const find = (name: ChangeName): FakeChange => {
    const found = typeof name === 'number' ? world.changes.get(name) : name;
    if (found === undefined) throw new Error(`the fake Gerrit has no change ${String(name)}`);
    return found;
  };
  const who = (name: string) => accountNamed(world, name);
  const one = <T>(work: () => Promise<T>) => world.exclusively(work);
  const commitOf = (on: ChangeName | string) =>
    typeof on === 'string' ? on : currentPatchSet(find(on).now).commit;
  return {
    push: request => one(() => push(world, request, commitOf)),
    amend: (change, request = {}) => one(() => amend(world, find(change), request, commitOf)),
    vote: (name, by, labels, message, number) =>
      one(async () => {
        const change = find(name);
        await review(world, who(by), change, patchSetOf(change, number), {
          labels,
          ...(message === undefined ? {} : { message }),
        });
      }),
    comment: (name, by, message, { tag, patchSet, comments } = {}) =>
      one(async () => {
        const change = find(name);
        await review(world, who(by), change, patchSetOf(change, patchSet), {
          message,
          ...(tag === undefined ? {} : { tag }),
          ...(comments === undefined ? {} : { comments }),
        });
      }),
    deleteVote: (change, by, of, label) =>
      one(() => deleteVote(world, who(by), find(change), who(of), label)),
    addReviewer: (change, by, reviewer, state) =>
      one(() => addReviewer(world, who(by), find(change), who(reviewer), state)),
    deleteReviewer: (change, by, reviewer) =>
      one(() => deleteReviewer(world, who(by), find(change), who(reviewer))),
    abandon: (change, by, reason) =>
      one(() => abandon(world, who(by ?? find(change).owner.username), find(change), reason)),
    restore: (change, by, reason) =>
      one(() => restore(world, who(by ?? find(change).owner.username), find(change), reason)),
    setWip: (change, wip, by) =>
      one(() => setWip(world, who(by ?? find(change).owner.username), find(change), wip)),
    setPrivate: (change, on, by) =>
      one(() => setPrivate(world, who(by ?? find(change).owner.username), find(change), on)),
    setTopic: (change, topic, by) =>
      one(() => setTopic(world, who(by ?? find(change).owner.username), find(change), topic)),
    setHashtags: (change, request, by) =>
      one(
        async () =>
          void (await setHashtags(world, who(by ?? find(change).owner.username), find(change), request)),
      ),
    editMessage: (change, message, by) =>
      one(() => editMessage(world, who(by ?? find(change).owner.username), find(change), message)),
    move: (change, branch, by = 'admin') => one(() => move(world, who(by), find(change), branch)),
    deleteChange: (change, by = 'admin') => one(() => deleteChange(world, who(by), find(change))),
    submit: (change, by = 'gatehouse') => one(() => submit(world, who(by), find(change))),
    change: find,
  };
}

function patchSetOf({ now }: FakeChange, number: number | undefined) {
  const found =
    number === undefined ? currentPatchSet(now) : now.patchSets.find(each => each.number === number);
  if (found === undefined) throw new Error(`there is no patch set ${number}`);
  return found;
}

async function push(
  world: GerritWorld,
  request: PushRequest,
  commitOf: (on: ChangeName | string) => string,
): Promise<FakeChange> {
  const project = projectNamed(world, request.project);
  const {
    branch = project.head,
    files,
    as = 'alice',
    on,
    message = `Change ${Object.keys(files).join(', ')}`,
  } = request;
  const by = accountNamed(world, as);
  const parent = on === undefined ? await tipOf(project.dir, branch) : commitOf(on);
  if (parent === undefined) throw new Error(`${project.name} has no branch ${branch}`);
  const changeId = request.changeId ?? changeIdIn(message) ?? newChangeId();
  const text = withChangeId(message, changeId);
  const id = await commitFiles(project.dir, { parents: [parent], files, message: text, by, at: world.now() });
  const commit = await readCommit(project.dir, id);
  const [made] = await upload(world, by, [{ project, branch, commit, changeId }], request);
  if (made === undefined) throw new Error('nothing was pushed');
  return made.change;
}

async function amend(
  world: GerritWorld,
  change: FakeChange,
  request: AmendRequest,
  commitOf: (on: ChangeName | string) => string,
): Promise<FakeChange> {
  const { project, changeId } = change;
  const by = accountNamed(world, request.as ?? change.owner.username);
  const old = await readCommit(project.dir, currentPatchSet(change.now).commit);
  const parent = request.on === undefined ? old.parents[0] : commitOf(request.on);
  const files = { ...(await changedFiles(project.dir, old.id)), ...request.files };
  const id = await commitFiles(project.dir, {
    parents: parent === undefined ? [] : [parent],
    files,
    message: withChangeId(request.message ?? old.message, changeId),
    by,
    at: world.now(),
  });
  const commit = await readCommit(project.dir, id);
  await upload(world, by, [{ project, branch: change.now.branch, commit, changeId }], {});
  return change;
}

/** As the commit-msg hook adds it: to the last paragraph, if that is one of footers. */
function withChangeId(message: string, changeId: string): string {
  const text = message.trimEnd();
  if (changeIdIn(text) !== undefined) return `${text}\n`;
  const last = text.split(/\n\s*\n/).at(-1) ?? '';
  const footers = text.includes('\n') && last.split('\n').every(line => /^[\w-]+: /.test(line));
  return `${text}${footers ? '\n' : '\n\n'}Change-Id: ${changeId}\n`;
}
