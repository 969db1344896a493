/** Where the git of a code host is, and what git needs to get in. */

/** Where git finds a project. */
export interface GitRemote {
  readonly url: string;
  /** Added to git's environment, e.g. `GIT_SSH_COMMAND`; never shown. */
  readonly environment: { readonly [name: string]: string };
}
