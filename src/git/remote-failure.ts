/**
 * Why a remote could not serve us, read from git's exit and its English messages (`LC_ALL=C`). The text is one line fit for
 * a report at the code host: no control characters, no user names or passwords of URLs.
 */
import { stripUserinfo } from '../lib/redact.ts';
import type { GitResult } from './git.ts';
import { DEFAULT_PROTOCOLS, type Remote, remoteUrlProblem } from './remote.ts';

export interface RemoteFailure {
  readonly kind: 'remote-failed';
  readonly reason: RemoteFailureReason;
  /** One line for people, e.g. `Could not resolve host: git.example.org`. */
  readonly message: string;
  /** Whether the same call may succeed later without anybody changing a setting. */
  readonly retryable: boolean;
}

export type RemoteFailureReason =
  /** No connection, a host that fails, a repository that is not there (hosts say so for lack of rights, too). */
  | 'unreachable'
  /** Credentials refused or host key unknown. */
  | 'denied'
  | 'timeout'
  /** The URL or its protocol is not allowed. */
  | 'bad-url'
  /** A ref or commit asked for does not exist there. */
  | 'missing-ref'
  /** We gave up because our caller did. */
  | 'aborted'
  | 'other';

type Unsuccessful = Exclude<GitResult, { kind: 'ok' }>;

const PATTERNS: readonly (readonly [RegExp, RemoteFailureReason])[] = [
  [/couldn't find remote ref|not our ref|no such remote ref|unadvertised object/i, 'missing-ref'],
  [
    /authentication failed|permission denied|could not read (username|password)|host key verification|dubious ownership|requested URL returned error: 40[13]/i,
    'denied',
  ],
  [/transport '.*' not allowed|not a valid (repository|remote)/i, 'bad-url'],
  [/timed out|operation too slow|less than \d+ bytes/i, 'timeout'],
  [
    /could not resolve|couldn't connect|failed to connect|connection (refused|reset|closed)|no route to host|unable to access|could not read from remote|repository .*not found|does not appear to be a git repository|hung up|early eof|requested URL returned error/i,
    'unreachable',
  ],
];

const RETRYABLE: ReadonlySet<RemoteFailureReason> = new Set(['unreachable', 'timeout', 'other']);

export function remoteFailure(result: Unsuccessful): RemoteFailure {
  switch (result.kind) {
    case 'timeout':
      return failure('timeout', `no answer within ${result.seconds} seconds`);
    case 'aborted':
      return failure('aborted', 'given up');
    case 'too-much-output':
      return failure('other', `more than ${result.limit} bytes of output`);
    case 'failed': {
      const reason = PATTERNS.find(([pattern]) => pattern.test(result.stderr))?.[1] ?? 'other';
      return failure(reason, oneLine(result.stderr) || `git ended with exit code ${result.exitCode}`);
    }
  }
}

/** The refusal of a URL git is not even asked about, or undefined. */
export function refusedUrl(
  remote: Remote,
  protocols: readonly string[] = DEFAULT_PROTOCOLS,
): RemoteFailure | undefined {
  const problem = remoteUrlProblem(remote.url, protocols);
  return problem === undefined ? undefined : failure('bad-url', problem);
}

function failure(reason: RemoteFailureReason, message: string): RemoteFailure {
  return { kind: 'remote-failed', reason, message, retryable: RETRYABLE.has(reason) };
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
  return stripUserinfo(telling.replace(/^(fatal|error|remote): /, ''))
    .slice(0, MAX_LENGTH)
    .toWellFormed();
}
