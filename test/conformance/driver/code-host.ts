/**
 * What the conformance suite needs of a code host: the things people do there. Each driver brings one, made of real
 * repositories or of its stateful fake.
 */
import type { Connection } from '../../../src/driver/connection.ts';
import type { DriverConfigLanguage } from '../../../src/driver/driver.ts';
import type { NewConnectionEvent } from '../../../src/driver/intake.ts';
import type { RepositoryCache } from '../../../src/git/repository-cache.ts';
import type { ChangeKey } from '../../../src/model/change.ts';
import type { Json } from '../../../src/model/job.ts';
import type { ProjectKey } from '../../../src/model/project.ts';

/**
 * The language of a host whose triggers, requirements and reporters are those of the git driver.
 *
 * @param merge as its reporter writes it.
 */
export function gitLanguage(merge: true | 'merge' | 'squash'): CodeHost['language'] {
  return {
    triggers: {
      proposed: { event: 'proposed' },
      approved: { event: ['approved'], branch: '^main$' },
      abandoned: { event: 'abandoned' },
      branchMoved: { event: 'ref-updated', ref: '^refs/heads/' },
    },
    requirements: { approved: { approved: true }, open: { open: true } },
    reporters: { merge: { merge, note: false }, remark: { note: true } },
    mistakes: {
      trigger: [{ event: 'aproved' }, ['event']],
      requirement: [{ opne: true }, ['opne']],
      reporter: [{ merge: 'yes' }, ['merge']],
    },
  };
}

/** File contents by path. */
export type Files = Readonly<Record<string, string>>;

interface ProposalSpec {
  /** What the people call it; unique per project. */
  readonly topic: string;
  /** Default: the first project. */
  readonly project?: ProjectKey;
  /** Default: a file named after the topic. */
  readonly files?: Files;
  readonly message?: string;
  /** Topic of the proposal it is built on; default: the branch. */
  readonly on?: string;
}

export interface Proposed {
  readonly key: ChangeKey;
  readonly commit: string;
}

export interface CodeHost extends AsyncDisposable {
  readonly connection: Connection;
  readonly config: DriverConfigLanguage;
  readonly repositories: RepositoryCache;
  /** Each has a branch {@link branch} with at least one commit. */
  readonly projects: readonly [ProjectKey, ProjectKey];
  readonly branch: string;
  propose(spec: ProposalSpec): Promise<Proposed>;
  /** A new revision; the approval of the old one stays what it was. */
  amend(topic: string, files: Files): Promise<Proposed>;
  approve(topic: string): Promise<void>;
  withdrawApproval(topic: string): Promise<void>;
  abandon(topic: string): Promise<void>;
  /** A push to the branch past the gate. */
  push(files: Files): Promise<string>;
  /** Where the branch of a project is. */
  tip(project: ProjectKey): Promise<string>;
  /** Of a commit of the first project. */
  tree(commit: string): Promise<string>;
  /** How its merging reporter lands: exactly the tested commit, or the host makes one of its own. */
  readonly lands: 'push' | 'api';
  isOpen(topic: string): Promise<boolean>;
  /** From now on the host's own rules refuse every merge, with this text. */
  refuseMerges(text: string): Promise<void>;
  /** From now on the first project's host serves nothing, until {@link heal}. */
  ail(): Promise<void>;
  heal(): Promise<void>;
  /** Everything the gate has said about a proposal, as people see it. */
  remarks(proposed: Proposed): Promise<string>;
  /** Whether a proposal needs the one that it is built on. */
  readonly stacks: boolean;
  /** The line that makes a commit depend on a proposal. */
  dependsOn(topic: string, project: ProjectKey): string;
  /** What listener and webhooks delivered since the last call. */
  deliveries(): Promise<readonly NewConnectionEvent[]>;
  readonly language: {
    readonly triggers: {
      readonly proposed: Json;
      readonly approved: Json;
      readonly abandoned: Json;
      readonly branchMoved: Json;
    };
    readonly requirements: { readonly approved: Json; readonly open: Json };
    readonly reporters: { readonly merge: Json; readonly remark: Json };
    /** One per parser, each with the path of the mistake. */
    readonly mistakes: {
      readonly trigger: readonly [Json, readonly (string | number)[]];
      readonly requirement: readonly [Json, readonly (string | number)[]];
      readonly reporter: readonly [Json, readonly (string | number)[]];
    };
  };
}
