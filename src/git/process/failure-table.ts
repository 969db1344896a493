/**
 * What git's messages (`LC_ALL=C`) and a remote's refusals mean, in one table. The first row that matches counts.
 *
 *     The requested URL returned error: 403        limited       host      wait, ask again
 *     Unable to create '….lock': File exists       locked        host      wait, ask again
 *     Out of memory, malloc failed                 too-large     content   not fetched again for a while
 *     couldn't find remote ref                     missing-ref   gone-ref  list the refs again, then decide
 *     pre-receive hook declined                    other         policy    the change is refused
 *     fsck error in packed object                  other         content   the change is refused
 *
 * Only `policy` and `content` say anything about a change. A message that is not in the table is host trouble.
 */
import { assertNever } from '../../lib/assert-never.ts';

/** What follows from a failure. */
export type FailureNature =
  /** Says nothing about the request: ask again later. */
  | 'host'
  /** The ref or commit was missing at that moment; only a new listing of the refs shows why. */
  | 'gone-ref'
  /** A rule of the host: a hook, a protected branch. */
  | 'policy'
  /** The host does not take the objects. */
  | 'content';

/** What happened, as far as the message shows it: shown to people and kept with host trouble. */
export type FailureReason =
  /** No connection, a failing host, a missing repository (hosts say so for missing permissions, too). */
  | 'unreachable'
  /** Too many requests, or permissions missing for now: hosts answer 403 for both. */
  | 'limited'
  /** Credentials refused or host key unknown. */
  | 'denied'
  | 'timeout'
  /** Another process writes there. */
  | 'locked'
  /** The URL or its protocol is not allowed. */
  | 'bad-url'
  /** A ref or commit asked for does not exist there. */
  | 'missing-ref'
  /** The objects take more memory than git may use here (`memory-limit.ts`). */
  | 'too-large'
  /** The caller aborted. */
  | 'aborted'
  | 'other';

/** The reason is for people; what is done next depends on the nature alone. */
export interface FailureMeaning {
  readonly reason: FailureReason;
  readonly nature: FailureNature;
}

type Row = readonly [RegExp, FailureReason, FailureNature];

const OUR_END: readonly Row[] = [
  // A machine that cannot start a process says nothing about the content.
  [/^(?!.*cannot fork).*(out of memory|cannot allocate memory)/im, 'too-large', 'content'],
  [/couldn't find remote ref|not our ref|no such remote ref|unadvertised object/i, 'missing-ref', 'gone-ref'],
  [/requested URL returned error: (403|429)|too many requests|rate limit/i, 'limited', 'host'],
  [
    /authentication failed|permission denied|could not read (username|password)|host key verification|dubious ownership|requested URL returned error: 401/i,
    'denied',
    'host',
  ],
  [/transport '.*' not allowed|not a valid (repository|remote)/i, 'bad-url', 'host'],
  [/timed out|operation too slow|less than \d+ bytes/i, 'timeout', 'host'],
  [/\.lock': File exists/, 'locked', 'host'],
  [
    /could not resolve|couldn't connect|failed to connect|connection (refused|reset|closed)|no route to host|unable to access|could not read from remote|repository .*not found|does not appear to be a git repository|hung up|early eof|RPC failed|expected flush|unexpected disconnect|bad pack header|unexpected end of|requested URL returned error/i,
    'unreachable',
    'host',
  ],
];

/** Messages of a remote that refuses a push: the text of `[remote rejected] (…)` and of its `remote: ` lines. */
const THEIR_END: readonly Row[] = [
  [/fsck|error: object [0-9a-f]{40,}: \w+:|malformed object|invalid object/i, 'other', 'content'],
  [/\.lock': File exists|lock failure|failed to lock|Unable to create '[^']*\.lock'/i, 'locked', 'host'],
  [
    /internal (server )?(error|api)|service unavailable|temporarily unavailable|try again (later|in)|gateway time-?out|read-only (file system|mode)|maintenance/i,
    'unreachable',
    'host',
  ],
  [
    /no space left|disk quota|unpack|unable to migrate objects|failed to update ref|transaction failed/i,
    'other',
    'host',
  ],
];

const UNKNOWN: FailureMeaning = { reason: 'other', nature: 'host' };
const REFUSED: FailureMeaning = { reason: 'other', nature: 'policy' };

/** Meaning of a failed fetch, push or listing, read from git's stderr. */
export function meaningOfFailure(stderr: string): FailureMeaning {
  return find(OUR_END, stderr) ?? UNKNOWN;
}

/**
 * Meaning of a push that the remote refused. A refusal without a message of trouble comes from the host's rules.
 */
export function meaningOfRefusal(said: string): FailureMeaning {
  return find(THEIR_END, said) ?? REFUSED;
}

function find(rows: readonly Row[], text: string): FailureMeaning | undefined {
  const row = rows.find(([pattern]) => pattern.test(text));
  return row === undefined ? undefined : { reason: row[1], nature: row[2] };
}

/** Whether a later try may succeed without any change to what was asked. */
export function isWorthAnotherTry(nature: FailureNature): boolean {
  switch (nature) {
    case 'host':
    case 'gone-ref':
      return true;
    case 'policy':
    case 'content':
      return false;
    default:
      return assertNever(nature, 'nature of a failure');
  }
}
