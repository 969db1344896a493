/** One request that is answered over SSH, and what answers it. */
import type { RemoteFailure } from '../../../../src/git/process/remote-failure.ts';
import type { RemoteRefs } from '../../../../src/git/remote/remote-refs.ts';
import type { Json } from '../../../../src/model/job.ts';
import type { SshSession } from '../../ssh/ssh-session.ts';
import type { PatchsetNames } from './patchset-names.ts';

/** A REST request, taken apart. */
export interface SshAsked {
  /** Decoded parts of the path, in order. */
  readonly parts: readonly string[];
  readonly query: URLSearchParams;
  readonly body: Json | undefined;
  readonly signal: AbortSignal;
}

/** Of one connection. */
export interface SshCarrierDeps {
  readonly session: SshSession;
  /** Of our account. */
  readonly username: string;
  /** Refs of a project that begin with one of the prefixes, as git lists them. */
  readonly listRefs: (project: string, prefixes: readonly string[]) => Promise<RemoteRefs | RemoteFailure>;
  readonly patchsets: PatchsetNames;
  /** Whether Gerrit submits the changes of a topic together (`change.submitWholeTopic`), which it does not say over SSH. */
  readonly submitsWholeTopic: boolean;
  readonly deadlinesMs: { readonly read: number; readonly write: number };
  /** Ends early when aborted. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
}
