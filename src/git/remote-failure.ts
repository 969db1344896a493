/**
 * Why a remote could not serve us, read from git's exit and its messages (`failure-table.ts` says what they mean). The text is
 * one line fit for a report at the code host: no control characters, no user names or passwords of URLs, no paths of its disk.
 */
import { stripUserinfo } from '../lib/redact.ts';
import {
  type FailureMeaning,
  type FailureNature,
  type FailureReason,
  meaningOfFailure,
} from './failure-table.ts';
import type { GitResult } from './git.ts';
import { DEFAULT_PROTOCOLS, type Remote, remoteUrlProblem } from './remote.ts';

export interface RemoteFailure {
  readonly kind: 'remote-failed';
  readonly reason: FailureReason;
  /** What follows from it: never `policy` for a conversation that failed. */
  readonly nature: FailureNature;
  /** One line for people, e.g. `Could not resolve host: git.example.org`. */
  readonly message: string;
}

type Unsuccessful = Exclude<GitResult, { kind: 'ok' }>;

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

/** The refusal of a URL git is not even asked about, or undefined. */
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

/** The line of git's stderr that says most: the first `fatal:` or `error:`, else what the remote said, else the last line. */
export function oneLine(stderr: string): string {
  const lines = stderr
    .split(/[\r\n]+/)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is dropped
    .map(line => line.replaceAll(/[\u0000-\u0020\u007f-\u009f]+/g, ' ').trim())
    .filter(Boolean);
  const telling =
    lines.find(line => /^(fatal|error): /.test(line)) ??
    lines.find(line => line.startsWith('remote: ')) ??
    lines.at(-1) ??
    '';
  return withoutPaths(stripUserinfo(telling.replace(/^(fatal|error|remote): /, '')))
    .slice(0, MAX_LENGTH)
    .toWellFormed();
}

/** Reports do not show where a host keeps things on its disk: of an absolute path the last name is left. */
function withoutPaths(line: string): string {
  return line.replaceAll(/(^|[\s'"(])\/(?:[^\s'"():]+\/)+([^\s'"():/]*)/g, '$1…/$2');
}
