/** Where the git of a code host is, and what git needs to get in. */

/** What the caller is going to do there: a driver gives no more permission than that takes. */
export type RemoteUse = 'read' | 'write';

/**
 * Where git finds a project, for one conversation. Credentials that expire are the driver's to renew: a caller asks again
 * for each conversation and keeps nothing.
 */
export interface GitRemote {
  /** Holds no password and no token: it stands in argument lists, logs and spans. */
  readonly url: string;
  /** HTTP header lines, e.g. `Authorization: Basic …`; git gets them through its environment. Never shown. */
  readonly headers?: readonly string[];
  /** Added to git's environment, e.g. `GIT_SSH_COMMAND`; never shown. */
  readonly environment?: { readonly [name: string]: string };
}
