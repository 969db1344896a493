/** What the fake GitHub knows: repositories with their pull requests, checks and rules; installations; deleted users. */
import { createHash } from 'node:crypto';
import type { Description } from './openapi.ts';

/** A person's role in a repository. */
export type Role = 'admin' | 'maintain' | 'write' | 'triage' | 'read' | 'none';

export interface Review {
  readonly id: number;
  readonly user: string;
  state: 'APPROVED' | 'CHANGES_REQUESTED' | 'COMMENTED' | 'DISMISSED';
  readonly body: string;
  readonly commit: string;
  readonly at: string;
}

export interface Comment {
  readonly id: number;
  readonly user: string;
  body: string;
  readonly at: string;
  updatedAt: string;
  readonly reactions: { readonly id: number; readonly user: string; readonly content: string }[];
}

/** What changes in the life of a pull request, and what stale reads show older values of. */
export interface PullState {
  readonly title: string;
  readonly body: string | null;
  readonly base: string;
  /** Commit id. */
  readonly head: string;
  readonly state: 'open' | 'closed';
  readonly draft: boolean;
  readonly merged: boolean;
  readonly mergedAt: string | null;
  readonly mergedBy: string | null;
  readonly mergeCommit: string | null;
  readonly closedAt: string | null;
  readonly labels: readonly string[];
  readonly reviews: readonly Review[];
  readonly threads: readonly { readonly id: string; readonly isResolved: boolean }[];
  readonly updatedAt: string;
}

export interface Pull {
  readonly id: number;
  readonly number: number;
  readonly user: string;
  readonly createdAt: string;
  readonly headRef: string;
  /** Null: the fork was deleted. */
  headRepository: Repository | null;
  readonly comments: Comment[];
  now: PullState;
  /** Older states, each with the time in milliseconds at which it ended. */
  readonly past: { readonly until: number; readonly was: PullState }[];
  /** `mergeable` is not computed before this time in milliseconds. */
  mergeableFrom: number;
}

export interface CheckRun {
  readonly id: number;
  readonly suite: number;
  readonly app: { readonly id: number; readonly slug: string };
  readonly name: string;
  readonly headSha: string;
  externalId: string;
  detailsUrl: string | null;
  status: string;
  conclusion: string | null;
  startedAt: string | null;
  completedAt: string | null;
  output: { title: string | null; summary: string | null; text: string | null };
  actions: readonly unknown[];
  readonly annotations: Record<string, unknown>[];
}

export interface CommitStatus {
  readonly id: number;
  readonly sha: string;
  readonly context: string;
  readonly state: string;
  readonly creator: string;
  readonly description: string | null;
  readonly targetUrl: string | null;
  readonly at: string;
}

/** Branch protection, or a ruleset, of one branch. */
export interface Rules {
  /** Names, or names that only one App can satisfy. */
  readonly checks: readonly (string | { readonly context: string; readonly app: number })[];
  readonly upToDate: boolean;
  readonly approvals: number;
  readonly codeOwners: boolean;
  readonly conversations: boolean;
  readonly linearHistory: boolean;
  readonly signatures: boolean;
  readonly mergeQueue: boolean;
  readonly locked: boolean;
  /** Logins that may push at all (`gatehouse[bot]` is the App). Null: all who may write. */
  readonly pushers: readonly string[] | null;
  /** Logins that no rule holds up. */
  readonly bypass: readonly string[];
  /** Merge methods that the rule leaves; rulesets only. */
  readonly methods: readonly string[] | null;
}

export interface Ruleset extends Rules {
  readonly id: number;
  readonly name: string;
  readonly branch: string;
}

export interface Repository {
  readonly id: number;
  owner: string;
  name: string;
  /** Bare repository. */
  readonly dir: string;
  defaultBranch: string;
  archived: boolean;
  /** Git serves it only with credentials. */
  isPrivate: boolean;
  readonly fork: Repository | null;
  readonly methods: { merge: boolean; squash: boolean; rebase: boolean };
  readonly pulls: Map<number, Pull>;
  readonly checks: CheckRun[];
  readonly statuses: CommitStatus[];
  readonly protection: Map<string, Rules>;
  readonly rulesets: Ruleset[];
  /** By login. Others have `read`. */
  readonly roles: Map<string, Role>;
  nextNumber: number;
}

export type Permissions = { readonly [name: string]: 'read' | 'write' | 'admin' };

export interface Installation {
  readonly id: number;
  /** Owner of the repositories. */
  readonly account: string;
  permissions: Permissions;
  /** Ids; null: all of the account. */
  repositories: Set<number> | null;
  suspended: boolean;
}

export interface World {
  readonly description: Description;
  readonly app: {
    readonly id: number;
    readonly slug: string;
    readonly clientId: string;
    /** Those it is subscribed to, besides what every App gets. */
    events: readonly string[];
  };
  /** `http://127.0.0.1:<port>`. */
  origin: string;
  /** Root of the REST API. */
  api: string;
  readonly root: string;
  /** By `owner/name` in lower case. */
  readonly repositories: Map<string, Repository>;
  /** Old names in lower case → id. */
  readonly moved: Map<string, number>;
  readonly installations: Map<number, Installation>;
  readonly deletedUsers: Set<string>;
  readonly emails: Map<string, string>;
  /** Reads show the state of so long ago, in milliseconds, or of before the last change for so many reads. */
  readonly stale: { ms: number; reads: number };
  /** Milliseconds. */
  now(): number;
  nextId(): number;
}

export function fullName(repository: Repository): string {
  return `${repository.owner}/${repository.name}`;
}

/** GitHub's form: no fractions of a second. */
export function timestamp(world: World, ms = world.now()): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
}

/** A number that is always the same for a name. */
export function idOf(name: string): number {
  return createHash('sha256').update(name).digest().readUInt32BE(0) % 2 ** 31;
}

export function repositoryNamed(world: World, name: string): Repository | undefined {
  return world.repositories.get(name.toLowerCase());
}

/** Takes the place of the pull request's state; the older one stays for stale reads. */
export function changePull(world: World, pull: Pull, fields: Partial<PullState>): void {
  pull.past.push({ until: world.now(), was: pull.now });
  pull.now = { ...pull.now, updatedAt: timestamp(world), ...fields };
}

/** The state that a read shows: the newest, unless the fake lags behind its own writes. */
export function pullAsRead(world: World, pull: Pull): PullState {
  if (world.stale.reads > 0 && pull.past.length > 0) {
    world.stale.reads--;
    return pull.past.at(-1)?.was ?? pull.now;
  }
  const seen = world.now() - world.stale.ms;
  return world.stale.ms === 0 ? pull.now : (pull.past.find(({ until }) => until > seen)?.was ?? pull.now);
}

export function installationOf(world: World, repository: Repository): Installation | undefined {
  return [...world.installations.values()].find(
    each =>
      each.account.toLowerCase() === repository.owner.toLowerCase() &&
      (each.repositories === null || each.repositories.has(repository.id)),
  );
}

export function roleOf(repository: Repository, login: string): Role {
  return repository.roles.get(login) ?? 'read';
}

export function mayWrite(repository: Repository, login: string): boolean {
  return ['admin', 'maintain', 'write'].includes(roleOf(repository, login));
}
