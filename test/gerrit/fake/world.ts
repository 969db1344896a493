/** What the fake Gerrit knows: accounts, projects with their labels and access, changes with everything that happened to them. */
import { createHash, randomBytes } from 'node:crypto';
import type { Shape } from '../../github/fake/shape.ts';

export interface FakeAccount {
  readonly id: number;
  readonly username: string;
  readonly name: string;
  readonly email: string;
  readonly httpPassword: string;
  /** For `Authorization: Bearer` and, as `o=<token>`, in a cookie. */
  readonly token: string;
  /** Besides `Anonymous Users`, `Registered Users` and `user/<username>`, which go without saying. */
  readonly groups: Set<string>;
  /** E.g. `streamEvents`, `queryLimit`. */
  readonly capabilities: Set<string>;
}

export type LabelFunction =
  | 'MaxWithBlock'
  | 'AnyWithBlock'
  | 'MaxNoBlock'
  | 'NoBlock'
  | 'NoOp'
  | 'PatchSetLock';

export interface LabelType {
  readonly name: string;
  /** Description by value. */
  readonly values: { readonly [value: number]: string };
  readonly function: LabelFunction;
  /** Kinds of patch sets that keep the votes of the one before. */
  readonly copiedOn: readonly PatchSetKind[];
}

export type PatchSetKind = 'REWORK' | 'TRIVIAL_REBASE' | 'NO_CODE_CHANGE' | 'NO_CHANGE';

/** A rule of Gerrit 3.5 and later. Expressions: `label:NAME=MAX`, `label:NAME=MIN`, `label:NAME>=1`, `is:…`, with AND, OR, `-`. */
export interface RequirementRule {
  readonly name: string;
  readonly description?: string;
  readonly applicableIf?: string;
  readonly submittableIf: string;
  readonly overrideIf?: string;
}

export type FakeSubmitType =
  | 'FAST_FORWARD_ONLY'
  | 'MERGE_IF_NECESSARY'
  | 'MERGE_ALWAYS'
  | 'REBASE_IF_NECESSARY'
  | 'REBASE_ALWAYS'
  | 'CHERRY_PICK';

/** Who may what: names of groups. Administrators may everything but vote. */
export interface Access {
  /** An account has the union of what its groups have; of several rules for one group the first counts. */
  readonly labels: {
    readonly label: string;
    readonly group: string;
    readonly min: number;
    readonly max: number;
  }[];
  readonly read: string[];
  readonly submit: string[];
  /** Branches and tags, directly. */
  readonly push: string[];
  /** `refs/for/*`. */
  readonly upload: string[];
  readonly viewPrivate: string[];
}

export interface FakeProject {
  readonly name: string;
  /** Bare repository. */
  readonly dir: string;
  /** Without `refs/heads/`. */
  head: string;
  submitType: FakeSubmitType;
  readonly labels: LabelType[];
  readonly requirements: RequirementRule[];
  readonly access: Access;
  requireChangeId: boolean;
  state: 'ACTIVE' | 'READ_ONLY' | 'HIDDEN';
}

export interface PatchSet {
  readonly number: number;
  readonly commit: string;
  readonly parents: readonly string[];
  /** `refs/changes/12/12/2` */
  readonly ref: string;
  readonly kind: PatchSetKind;
  readonly uploader: FakeAccount;
  /** Milliseconds. */
  readonly at: number;
  readonly description: string | null;
  readonly insertions: number;
  readonly deletions: number;
  /** Complete commit message. */
  readonly message: string;
  readonly author: { readonly name: string; readonly email: string };
}

export interface Vote {
  readonly label: string;
  readonly value: number;
  readonly by: FakeAccount;
  readonly patchSet: number;
  readonly at: number;
  readonly tag: string | null;
}

export interface HistoryMessage {
  readonly id: string;
  readonly author: FakeAccount | null;
  readonly at: number;
  readonly text: string;
  readonly tag: string | null;
  readonly patchSet: number;
}

export interface FileComment {
  readonly id: string;
  /** Message of the history that it came with. */
  readonly messageId: string;
  readonly at: number;
  readonly path: string;
  readonly line: number | null;
  readonly text: string;
  readonly unresolved: boolean;
  readonly by: FakeAccount;
  readonly patchSet: number;
  readonly tag: string | null;
}

export type ReviewerState = 'REVIEWER' | 'CC' | 'REMOVED';

/** What changes in the life of a change, and what a lagging index shows older values of. */
export interface ChangeState {
  /** Without `refs/heads/`. */
  readonly branch: string;
  readonly status: 'NEW' | 'MERGED' | 'ABANDONED';
  readonly topic: string | null;
  readonly hashtags: readonly string[];
  readonly wip: boolean;
  readonly private: boolean;
  readonly reviewStarted: boolean;
  /** Oldest first; the last is the current one. */
  readonly patchSets: readonly PatchSet[];
  /** Of all patch sets; 0 is no vote. */
  readonly votes: readonly Vote[];
  readonly messages: readonly HistoryMessage[];
  readonly comments: readonly FileComment[];
  /** By username; never `REMOVED`. */
  readonly reviewers: ReadonlyMap<
    string,
    { readonly account: FakeAccount; readonly state: 'REVIEWER' | 'CC' }
  >;
  readonly reviewerUpdates: readonly {
    readonly at: number;
    readonly by: FakeAccount;
    readonly reviewer: FakeAccount;
    readonly state: ReviewerState;
  }[];
  readonly updatedAt: number;
  readonly submittedAt: number | null;
  readonly submitter: FakeAccount | null;
  readonly submissionId: string | null;
  /** Tip of the branch that its submission made. */
  readonly mergedAs: string | null;
}

export interface FakeChange {
  readonly number: number;
  readonly project: FakeProject;
  /** `I` and 40 hex digits. */
  readonly changeId: string;
  readonly owner: FakeAccount;
  /** Milliseconds. */
  readonly createdAt: number;
  /** Commit of `refs/changes/…/meta`. */
  meta: string;
  now: ChangeState;
  /** Older states, oldest first. */
  readonly past: { readonly until: number; readonly untilStep: number; readonly was: ChangeState }[];
  /** Step of the world in which it was made. */
  readonly since: number;
}

export interface EmittedEvent {
  /** As a line of `stream-events` has it. */
  readonly json: Shape;
  /** Whether the stream of this account shows it; null: a server-wide receiver, such as the webhooks plug-in. */
  visibleTo(account: FakeAccount | null): boolean;
}

export interface GerritWorld {
  readonly version: '3.2' | '3.11';
  /** `http://127.0.0.1:<port>`. */
  origin: string;
  readonly root: string;
  /** By username. */
  readonly accounts: Map<string, FakeAccount>;
  readonly projects: Map<string, FakeProject>;
  /** By number. */
  readonly changes: Map<number, FakeChange>;
  /** `change.submitWholeTopic` of the server's configuration. */
  submitWholeTopic: boolean;
  readonly index: IndexLag;
  /** Grows with everything that is written. */
  step: number;
  /** Milliseconds. */
  now(): number;
  nextId(): number;
  nextNumber(): number;
  /** Runs one writer after the other, as the locks of a real server do. */
  exclusively<T>(work: () => Promise<T>): Promise<T>;
  emit(event: EmittedEvent): void;
  /** @returns ends it */
  onEvent(listener: (event: EmittedEvent) => void): () => void;
}

/** Queries (`changes/?q=`) show the state of so long ago, or while `frozen` lasts, of a step of the world. */
export interface IndexLag {
  ms: number;
  frozen: { readonly step: number; reads: number } | null;
}

/** Gerrit's form: UTC with nine digits, of which NoteDb keeps whole seconds. */
export function gerritTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')}.000000000`;
}

export function currentPatchSet(state: ChangeState): PatchSet {
  const last = state.patchSets.at(-1);
  if (last === undefined) throw new Error('a change has a patch set');
  return last;
}

/** Votes other than 0 on a patch set; absent: the current one. */
export function votesOn(state: ChangeState, patchSet = currentPatchSet(state).number): readonly Vote[] {
  return state.votes.filter(vote => vote.patchSet === patchSet && vote.value !== 0);
}

/** First line of the commit message. */
export function subjectOf(state: ChangeState): string {
  return currentPatchSet(state).message.split('\n')[0] ?? '';
}

/** Takes the place of the change's state; the older one stays for a lagging index. */
export function changeState(world: GerritWorld, change: FakeChange, fields: Partial<ChangeState>): void {
  world.step++;
  change.past.push({ until: world.now(), untilStep: world.step, was: change.now });
  if (change.past.length > 500) change.past.shift();
  change.now = { ...change.now, updatedAt: world.now(), ...fields };
}

/** The state that a query shows; undefined: the index does not know the change yet. */
export function stateInIndex({ now, index }: GerritWorld, change: FakeChange): ChangeState | undefined {
  if (index.frozen !== null) {
    const { step } = index.frozen;
    if (change.since > step) return undefined;
    return change.past.find(({ untilStep }) => untilStep > step)?.was ?? change.now;
  }
  if (index.ms === 0) return change.now;
  const seen = now() - index.ms;
  if (change.createdAt > seen) return undefined;
  return change.past.find(({ until }) => until > seen)?.was ?? change.now;
}

export function newChangeId(): string {
  return `I${createHash('sha1').update(randomBytes(20)).digest('hex')}`;
}

/** @throws Error if there is none: the test names one that it did not make */
export function accountNamed(world: GerritWorld, username: string): FakeAccount {
  const found = world.accounts.get(username);
  if (found === undefined) throw new Error(`the fake Gerrit has no account ${username}`);
  return found;
}

/** @throws Error if there is none */
export function projectNamed(world: GerritWorld, name: string): FakeProject {
  const found = world.projects.get(name);
  if (found === undefined) throw new Error(`the fake Gerrit has no project ${name}`);
  return found;
}
