/**
 * Requests of the scheduler to mergers, and their answers.
 *
 * A merge request names the changes of every item ahead and the item's own, oldest first. The merger extends the chain
 * of merges it remembers, so that the item at position k costs one merge. Commits are reproducible: any merger makes the
 * same ids from the same base and changes. An item ahead that conflicts is left out and named, so that one answer judges the
 * whole chain (decision 0044).
 */
import type { Nanoseconds } from '../lib/clock.ts';
import type { Uuid } from '../lib/ids.ts';
import type { ChangeKey } from './change.ts';
import type { HostTrouble } from './host-trouble.ts';
import type { MergeMode } from './merge-mode.ts';
import type { BranchName, CommitId, PipelineName, ProjectKey, TenantName } from './project.ts';
import type { Step } from './step.ts';

/** What is merged into what. */
export interface MergeInput {
  readonly change: ChangeKey;
  readonly project: ProjectKey;
  readonly branch: BranchName;
  readonly ref: string;
  readonly commit: CommitId;
  /** Message of the merge or squash commit, complete; must be a function of the change, so that repeats give the same id. */
  readonly message: string;
  /** Absent: `merge`. */
  readonly mode?: MergeMode;
}

/** A project whose branch heads the answer must hold, besides the merged ones. */
export interface ProjectState {
  readonly project: ProjectKey;
  /** Wanted branches; heads of absent ones are left out. Empty: all branches. */
  readonly branches: readonly BranchName[];
}

interface CommonRequest {
  readonly uuid: Uuid;
  readonly tenant: TenantName;
  readonly requestedAt: Nanoseconds;
  /** 100 high, 200 normal, 300 low. */
  readonly priority: number;
  /** The item whose spans become parents of the merger's steps; absent: the work makes no spans. */
  readonly item?: {
    readonly pipeline: PipelineName;
    readonly item: Uuid;
    readonly buildset: Uuid;
    readonly sampled: boolean;
  };
}

/**
 * Mergers that may die or run out of time over one request before it ends with `failed`. One may die for another reason; the second,
 * which worked on nothing else, makes the request the likely cause (decision 0027).
 */
export const MERGERS_PER_REQUEST = 2;
/** The same for mergers lost while no scheduler was running: whole services stop for other reasons. */
export const OUTAGES_PER_REQUEST = 5;

/** Merge the chain of one item and read the configuration at its end. */
export interface MergeRequest extends CommonRequest {
  readonly kind: 'merge';
  /** Changes of the items ahead, then the item's own. */
  readonly inputs: readonly MergeInput[];
  /** How many at the end of `inputs` are the item's own. */
  readonly own: number;
  /**
   * How many of `inputs` belong to each item ahead, oldest first: one that conflicts is left out of the chain, as a whole, and the
   * answer names it. Absent (where the item needs those ahead): the chain ends at the first conflict.
   */
  readonly ahead?: readonly number[];
  /** Projects whose heads the jobs will likely need (playbooks, required projects). */
  readonly states: readonly ProjectState[];
  /** Further places of configuration in projects of `inputs` and `pinned` ({@link ConfigFilesRequest}). Absent: none. */
  readonly extraPaths?: readonly { readonly project: ProjectKey; readonly paths: readonly string[] }[];
  /** Branches of `inputs` whose configuration is read whether or not the chain changes it (`always-dynamic-branches`). Absent: none. */
  readonly alwaysRead?: readonly { readonly project: ProjectKey; readonly branch: BranchName }[];
  /** Ref updates (post pipelines) test a commit as it is: `{project, branch, commit}` to fetch and read. */
  readonly pinned: readonly {
    readonly project: ProjectKey;
    readonly ref: string;
    readonly branch?: BranchName;
    readonly commit: CommitId;
    readonly before: CommitId | null;
    /** The commit may not have landed, and what the branch holds is wanted, too (`landed` of the answer). Absent: it is not. */
    readonly wantsLanded?: true;
  }[];
}

/** Read the heads of projects that no merge covers. */
export interface RepoStateRequest extends CommonRequest {
  readonly kind: 'repo-state';
  readonly states: readonly ProjectState[];
}

/** Reads the configuration files of a project's branches at their tips. */
export interface ConfigFilesRequest extends CommonRequest {
  readonly kind: 'config-files';
  readonly project: ProjectKey;
  /** Empty: every branch. */
  readonly branches: readonly BranchName[];
  /** Commits the answer must at least contain (an event named them); a merger that does not have them fetches. */
  readonly atLeast: readonly { readonly branch: BranchName; readonly commit: CommitId }[];
  /** Places that the tenant reads besides the usual ones: files, and directories that end in `/`. Absent: none. */
  readonly extraPaths?: readonly string[];
}

/** A request in the `merge` queue. Stored as the record `merger-request`. */
export type MergerRequest = MergeRequest | RepoStateRequest | ConfigFilesRequest;

/** A configuration file as found in the object database. */
export interface ConfigFile {
  readonly path: string;
  /** UTF-8 text; a file that is not UTF-8 or too large has `problem` instead of a text. */
  readonly text: string;
  readonly problem?: string;
}

/** The configuration files of one branch at one commit. Stored as the record `branch-config`. */
export interface BranchConfig {
  readonly project: ProjectKey;
  readonly branch: BranchName;
  readonly commit: CommitId;
  readonly files: readonly ConfigFile[];
}

/** A branch whose tip takes more memory than git may use. */
export interface TooLargeBranch {
  readonly branch: BranchName;
  readonly commit: CommitId;
  /** Completes the sentence "the commit is …". */
  readonly text: string;
}

/** Head of one branch of one project, as this buildset sees it. */
export interface BranchHead {
  readonly project: ProjectKey;
  readonly branch: BranchName;
  readonly commit: CommitId;
}

/** One merge of a chain: which commit was merged, where it can be fetched, and how. */
export type MergedInput = Pick<MergeInput, 'ref' | 'commit' | 'message' | 'mode'>;

/** The exact state that is tested for one project and branch. */
export interface MergedBranch {
  readonly project: ProjectKey;
  readonly branch: BranchName;
  /** Tip of the branch at the host when the chain began. */
  readonly base: CommitId;
  /** Result of the whole chain up to and including the own changes. */
  readonly commit: CommitId;
  /** What `commit` holds: this lands, in that commit or in one that the host makes. */
  readonly tree: string;
  /** Commit before the own changes: what the item ahead was tested as; equals `base` for the first. */
  readonly before: CommitId;
  /**
   * The tree of `before`, which the branch must hold for this to land; the host may have made other commits of the items ahead. Null: not recorded,
   * commits are compared.
   */
  readonly beforeTree: string | null;
  /**
   * All that was merged into `base`, oldest first: an executor that lacks `commit` makes it again from these, byte for byte, and
   * asks no merger. Absent: not recorded. With `recipe`: the item's own changes alone. With a report: the change that lands alone.
   */
  readonly inputs?: readonly MergedInput[];
  /** SHA-256 of the stored {@link ChainRecipe} that has all of `inputs`. Absent: they are complete. */
  readonly recipe?: string;
}

/**
 * What was merged into the branches of one item, where items were tested ahead of it: written once, apart from the item, which is written
 * with every step it takes. Stored as the record `chain-recipe`, a blob.
 */
export interface ChainRecipe {
  /** Of the merge; makes every recipe another one. */
  readonly request: Uuid;
  readonly branches: readonly (Pick<MergedBranch, 'project' | 'branch'> & {
    readonly inputs: readonly MergedInput[];
  })[];
}

/** A change that git cannot merge, and the paths in conflict. */
export interface MergeConflict {
  readonly change: ChangeKey;
  readonly project: ProjectKey;
  readonly files: readonly string[];
  /** The last change ahead that touched one of the files. Absent: none did; the branch itself conflicts, or git renamed something. */
  readonly with?: ChangeKey;
  /** Why it cannot be merged, where files do not conflict: a clause whose subject is the change. */
  readonly reason?: string;
}

/** An item ahead that conflicts with the chain ahead of it and was left out of the chain. */
export interface LeftOut extends MergeConflict {
  /** Its place in the request's `ahead`, from 0. */
  readonly item: number;
}

/** The answer of a merger; its kind is that of the request, `conflict`, or `failed`. */
export type MergerOutcome =
  | {
      readonly kind: 'merged';
      readonly branches: readonly MergedBranch[];
      /** Paths changed by the own changes, per project; sorted. */
      readonly filesChanged: readonly { readonly project: ProjectKey; readonly files: readonly string[] }[];
      /** Configuration at the merged commit for every project-branch in `inputs` or `pinned` whose configuration differs from the branch tip's. */
      readonly config: readonly BranchConfig[];
      /** Heads for `states`, and `pinned` projects, with the merged commits in place of tips. */
      readonly heads: readonly BranchHead[];
      /** Tips of the branches of `pinned` commits that want them. Absent: none. */
      readonly landed?: readonly BranchHead[];
      /** Oldest first; absent: none, or the request did not ask to go on past conflicts. Their `files` are the first ones. */
      readonly leftOut?: readonly LeftOut[];
      readonly steps: readonly Step[];
      readonly worker: string;
    }
  | {
      readonly kind: 'conflict';
      /** One of the own; without the request's `ahead` perhaps one of an item ahead. */
      readonly change: ChangeKey;
      readonly project: ProjectKey;
      readonly files: readonly string[];
      readonly with?: ChangeKey;
      readonly reason?: string;
      /** As above. */
      readonly leftOut?: readonly LeftOut[];
      readonly steps: readonly Step[];
      readonly worker: string;
    }
  | {
      readonly kind: 'repo-state';
      readonly heads: readonly BranchHead[];
      readonly steps: readonly Step[];
      readonly worker: string;
    }
  | {
      readonly kind: 'config-files';
      /** Without branches that do not exist and those in `tooLarge`. */
      readonly branches: readonly BranchConfig[];
      /** Absent: none. */
      readonly tooLarge?: readonly TooLargeBranch[];
      readonly steps: readonly Step[];
      readonly worker: string;
    }
  /** Could not be done: `Unable to update <project>: <reason>`. */
  | {
      readonly kind: 'failed';
      readonly text: string;
      readonly retryable: boolean;
      /** The code host failed: this is no verdict on the change. Absent: something else did. */
      readonly trouble?: HostTrouble;
      readonly steps: readonly Step[];
      readonly worker: string;
    };
