/**
 * Why a remote did not serve a request, read from git's exit code and messages (`failure-table.ts` has their meanings). The text
 * is one line fit for a report at the code host: no control characters, no user names or passwords of URLs, no paths of its disk.
 */
import { stripUserinfo } from '../../lib/redact.ts';
import {
  type FailureMeaning,
  type FailureNature,
  type FailureReason,
  meaningOfFailure,
} from './failure-table.ts';
import type { GitResult } from './git.ts';
import { DEFAULT_PROTOCOLS, type Remote, remoteUrlProblem } from './remote.ts';

/** A failed request to a remote, as a value: the caller decides what follows. */
export interface RemoteFailure {
  readonly kind: 'remote-failed';
  readonly reason: FailureReason;
  /** The consequence; never `policy` for a request that failed. */
  readonly nature: FailureNature;
  /** One line for people, e.g. `Could not resolve host: git.example.org`. */
  readonly message: string;
}

type Unsuccessful = Exclude<GitResult, { kind: 'ok' }>;

/** Also used for local calls of git, where only its message counts. */
export function remoteFailure(result: Unsuccessful): RemoteFailure {
  switch (result.kind) {
    case 'timeout':
      return failure({ reason: 'timeout', nature: 'host' }, `no answer within ${result.seconds} seconds`);
    case 'aborted':
      return failure({ reason: 'aborted', nature: 'host' }, 'given up');
    case 'too-much-output':
      return failure({ reason: 'other', nature: 'host' }, `more than ${result.limit} bytes of output`);
    case 'failed':
      return failure(
        meaningOfFailure(result.stderr),
        oneLine(result.stderr) || `git ended with exit code ${result.exitCode}`,
      );
  }
}

/** The refusal of a URL before git is started, or undefined. */
export function refusedUrl(
  remote: Remote,
  protocols: readonly string[] = DEFAULT_PROTOCOLS,
): RemoteFailure | undefined {
  const problem = remoteUrlProblem(remote.url, protocols);
  return problem === undefined ? undefined : failure({ reason: 'bad-url', nature: 'host' }, problem);
}

function failure(meaning: FailureMeaning, message: string): RemoteFailure {
  return { kind: 'remote-failed', ...meaning, message };
}

const MAX_LENGTH = 300;

/** The most informative line of git's stderr: the first `fatal:` or `error:`, else the remote's message, else the last line. */
export function oneLine(stderr: string): string {
  const lines = stderr
    .split(/[\r\n]+/)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is dropped
    .map(line => line.replaceAll(/[\u0000-\u0020\u007f-\u009f]+/g, ' ').trim())
    .filter(Boolean);
  const main =
    lines.find(line => /^(fatal|error): /.test(line)) ??
    lines.find(line => line.startsWith('remote: ')) ??
    lines.at(-1) ??
    '';
  return withoutPaths(stripUserinfo(main.replace(/^(fatal|error|remote): /, '')))
    .slice(0, MAX_LENGTH)
    .toWellFormed();
}

/** Reports do not show paths of the host's disk: only the last name of an absolute path stays. */
function withoutPaths(line: string): string {
  return line.replaceAll(/(^|[\s'"(])\/(?:[^\s'"():]+\/)+([^\s'"():/]*)/g, '$1…/$2');
}
