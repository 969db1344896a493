/** Where git reaches a code host, and with which credentials. */

/** What the caller is going to do: the driver grants no more than that needs. */
export type RemoteUse = 'read' | 'write';

/**
 * Address and credentials of a project, for one git command or several in a row. The driver renews credentials that expire, so
 * callers ask anew each time and keep nothing.
 */
export interface GitRemote {
  /** Without password and token: it appears in argument lists, logs and spans. */
  readonly url: string;
  /** HTTP header lines, e.g. `Authorization: Basic …`; git gets them through its environment. Secret. */
  readonly headers?: readonly string[];
  /** Added to git's environment, e.g. `GIT_SSH_COMMAND`. Secret. */
  readonly environment?: { readonly [name: string]: string };
  /** The headers open this project alone, for reading, and end by themselves within hours: they may be lent to an executor. */
  readonly lendable?: true;
}
