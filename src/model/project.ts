/** Projects and the connections they live on. */

/** Name of a `[connection NAME]` section, e.g. `local`. */
export type ConnectionName = string;
/** Name of a tenant of the tenant file. */
export type TenantName = string;
/** Unique within a tenant. */
export type PipelineName = string;
/** Unique within a tenant; its variants share it. */
export type JobName = string;
/** Without `refs/heads/`. */
export type BranchName = string;

declare const brand: unique symbol;
/** `<connection>/<project name>`, e.g. `local/acme/app`: unique over all connections. */
export type ProjectKey = string & { readonly [brand]: 'ProjectKey' };
/** 40 (or 64) lower-case hex digits. */
export type CommitId = string & { readonly [brand]: 'CommitId' };

/** A project by its connection and its name there. */
export interface ProjectId {
  readonly connection: ConnectionName;
  /** As the code host names it, e.g. `acme/app`. */
  readonly name: string;
}

/** Inverse of {@link projectIdOf}. */
export function projectKey(project: ProjectId): ProjectKey {
  return `${project.connection}/${project.name}` as ProjectKey;
}

/** Inverse of {@link projectKey}: connection names hold no slash (the settings refuse one). */
export function projectIdOf(key: ProjectKey): ProjectId {
  const slash = key.indexOf('/');
  return { connection: key.slice(0, slash), name: key.slice(slash + 1) };
}

/** @throws RangeError when `text` is not a full commit id. */
export function parseCommitId(text: string): CommitId {
  if (!/^([0-9a-f]{40}|[0-9a-f]{64})$/.test(text))
    throw new RangeError(`not a commit id: ${JSON.stringify(text)}`);
  return text as CommitId;
}

/** The first 8 digits, for people. */
export function shortCommit(commit: CommitId): string {
  return commit.slice(0, 8);
}
