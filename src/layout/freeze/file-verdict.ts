import { type Matcher, matcherText, matches } from '../reading/matcher.ts';

interface FileVerdict {
  readonly matches: boolean;
  /** A clause in English; empty: no matcher was tried. */
  readonly because: string;
}

/** Whether the changed files let a job run, and why. @param wanted its `files`. @param irrelevant its `irrelevant-files`. */
export type FileJudge = (wanted: readonly Matcher[], irrelevant: readonly Matcher[]) => FileVerdict;

/** One for all jobs of a change: many jobs share their matchers, and a change may have very many files. */
export function fileJudge(changed: readonly string[] | null): FileJudge {
  const known = new Map<string, FileVerdict>();
  return (wanted, irrelevant) => {
    const key = `${matcherText(wanted)} ${matcherText(irrelevant)}`;
    const verdict = known.get(key) ?? fileVerdict(wanted, irrelevant, changed);
    known.set(key, verdict);
    return verdict;
  };
}

/** Gerrit lists the commit message as a file; it is ignored. */
const COMMIT_MESSAGE = '/COMMIT_MSG';

/**
 * Zuul's file rules: with `files`, some file must match; with `irrelevant-files`, some file must not match. A change
 * without files (a merge commit, an empty commit) or with unknown files runs everything.
 */
function fileVerdict(
  wanted: readonly Matcher[],
  irrelevant: readonly Matcher[],
  changed: readonly string[] | null,
): FileVerdict {
  if (wanted.length === 0 && irrelevant.length === 0) return { matches: true, because: '' };
  const files = (changed ?? []).filter(file => file !== COMMIT_MESSAGE);
  if (changed === null)
    return { matches: true, because: 'the changed files are unknown, so file matchers are ignored' };
  if (files.length === 0)
    return { matches: true, because: 'the change has no files, so file matchers are ignored' };
  const clauses: string[] = [];
  if (wanted.length > 0) {
    const hit = files.find(file => wanted.some(matcher => matches(matcher, file)));
    if (hit === undefined) {
      return { matches: false, because: `${noneOf(files)} files ${matcherText(wanted)}` };
    }
    clauses.push(`file ${hit} matches files ${matcherText(wanted)}`);
  }
  if (irrelevant.length > 0) {
    const hit = files.find(file => !irrelevant.some(matcher => matches(matcher, file)));
    if (hit === undefined) {
      return { matches: false, because: `${allOf(files)} irrelevant-files ${matcherText(irrelevant)}` };
    }
    clauses.push(`file ${hit} matches none of irrelevant-files ${matcherText(irrelevant)}`);
  }
  return { matches: true, because: clauses.join('; ') };
}

function noneOf(files: readonly string[]): string {
  return files.length === 1
    ? `the only changed file (${files[0]}) matches none of`
    : `none of ${files.length} changed files (${some(files)}) matches`;
}

function allOf(files: readonly string[]): string {
  return files.length === 1
    ? `the only changed file (${files[0]}) matches`
    : `all ${files.length} changed files (${some(files)}) match`;
}

function some(files: readonly string[]): string {
  return files.length > 3 ? `${files.slice(0, 3).join(', ')}, ...` : files.join(', ');
}
