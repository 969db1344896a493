/**
 * What git would print, from the files of a bare repository: hosts for tests ask dozens of small questions in each story, and each
 * process costs more than all of them. What is not plain (packed objects, other options, other names) is left to git.
 *
 *     await answerFromFiles(dir, ['merge-base', '--is-ancestor', older, newer])    // '': yes; null: no; undefined: ask git
 */
import { readRef, writeRef } from './bare-repository.ts';
import { ancestorsIn, type LooseCommit, looseCommit, looseKind } from './loose-commits.ts';
import { notesFromFiles } from './notes-from-files.ts';

/** Without its last line breaks. Null: git ends with 1, and prints nothing. Undefined: this one is for git. */
type Answer = string | null | undefined;

const ANSWERS: {
  readonly [command: string]: (dir: string, rest: readonly string[]) => Answer | Promise<Answer>;
} = {
  'cat-file': catFile,
  'merge-base': isAncestor,
  'merge-tree': mergeTree,
  log,
  notes: notesFromFiles,
  'rev-list': revList,
  'rev-parse': revParse,
  'update-ref': updateRef,
};

/** @param args of git, the command first. */
export async function answerFromFiles(
  dir: string,
  [command = '', ...rest]: readonly string[],
): Promise<Answer> {
  return ANSWERS[command]?.(dir, rest);
}

const ID = /^[0-9a-f]{40}$/;
const COMMIT = /^([0-9a-f]{40})\^\{commit\}$/;
const NO_OBJECT = '0'.repeat(40);

function catFile(dir: string, [option = '', name = '', ...more]: readonly string[]): Answer {
  if (more.length > 0) return undefined;
  const marked = COMMIT.exec(name)?.[1];
  if (option === '-e' && marked !== undefined) return looseCommit(dir, marked) && '';
  if (!ID.test(name)) return undefined;
  if (option === '-t') return looseKind(dir, name);
  if (option === '-e') return looseKind(dir, name) && '';
  return option === 'commit' ? looseCommit(dir, name)?.text.trimEnd() : undefined;
}

async function revParse(dir: string, args: readonly string[]): Promise<Answer> {
  const names = args.filter(each => !['--verify', '-q', '--end-of-options'].includes(each));
  const [name = ''] = names;
  if (names.length !== 1) return undefined;
  const [, id = '', kind] = /^([0-9a-f]{40})\^\{(commit|tree)\}$/.exec(name) ?? [];
  if (kind !== undefined) return kind === 'tree' ? looseCommit(dir, id)?.tree : looseCommit(dir, id) && id;
  return /^refs\/heads\/[\w./-]+$/.test(name) ? readRef(dir, name) : undefined;
}

function isAncestor(dir: string, [option, older = '', newer = '']: readonly string[]): Answer {
  if (option !== '--is-ancestor' || !ID.test(older) || !ID.test(newer)) return undefined;
  if (looseCommit(dir, older) === undefined) return undefined;
  const all = ancestorsIn(dir, newer);
  return all && (all.has(older) ? '' : null);
}

/** One that contains the other is their merge. */
function mergeTree(dir: string, [option, ours = '', theirs = '', ...more]: readonly string[]): Answer {
  if (option !== '--write-tree' || more.length > 0 || !ID.test(ours) || !ID.test(theirs)) return undefined;
  if (ancestorsIn(dir, theirs)?.has(ours) === true) return looseCommit(dir, theirs)?.tree;
  return ancestorsIn(dir, ours)?.has(theirs) === true ? looseCommit(dir, ours)?.tree : undefined;
}

function revList(dir: string, args: readonly string[]): Answer {
  const most = args.flatMap(each => /^--max-count=(\d+)$/.exec(each)?.[1] ?? []).map(Number);
  const names = args
    .filter(each => each !== '--reverse' && !each.startsWith('--max-count='))
    .flatMap(each => each.replace(/^([0-9a-f]{40})\.\.([0-9a-f]{40})$/, '$2 ^$1').split(' '));
  const [newest = '', ...without] = names;
  if (!ID.test(newest) || !without.every(each => /^\^[0-9a-f]{40}$/.test(each))) return undefined;
  const known = without.map(each => ancestorsIn(dir, each.slice(1)));
  const found: string[] = [];
  for (let at: string | undefined = newest; at !== undefined; ) {
    const id: string = at;
    if (known.some(each => each === undefined || each.has(id))) break;
    const { parents = [NO_OBJECT, NO_OBJECT] } = looseCommit(dir, id) ?? {};
    // The order of a history with branches is git's.
    if (parents.length > 1) return undefined;
    found.push(id);
    [at] = parents;
  }
  if (known.includes(undefined)) return undefined;
  const shown = found.slice(0, most[0] ?? found.length);
  return (args.includes('--reverse') ? shown.toReversed() : shown).join('\n');
}

const FORMAT = /^--format=((?:%[HTPBsb]|%[ac][ne]|%n|[ |])+)$/;

/** Of one commit, or of a branch as it was landed. */
async function log(dir: string, args: readonly string[]): Promise<Answer> {
  const options = args.filter(each => each.startsWith('-') && each !== '--');
  const names = args.filter(each => !each.startsWith('-'));
  const format = options.flatMap(each => FORMAT.exec(each)?.[1] ?? []);
  const others = options.filter(each => !FORMAT.test(each)).toSorted();
  const [name = ''] = names;
  if (format.length !== 1 || names.length !== 1) return undefined;
  const ids = others.join(' ') === '-1' && ID.test(name) ? [name] : await firstParents(dir, name, others);
  const lines = ids?.map(id => {
    const commit = looseCommit(dir, id);
    return commit !== undefined && isPlain(commit) ? lineOf(format.join(''), id, commit) : undefined;
  });
  return lines?.every(each => each !== undefined) === true ? lines.join('').trimEnd() : undefined;
}

const FIRST_PARENTS = /^--first-parent( --merges)?( --reverse)?$/;

/** Undefined: another question, or not all are there as files. */
async function firstParents(
  dir: string,
  branch: string,
  options: readonly string[],
): Promise<readonly string[] | undefined> {
  const found: string[] = [];
  if (!FIRST_PARENTS.test(options.join(' '))) return undefined;
  let at = /^[\w/-]+$/.test(branch) ? await readRef(dir, `refs/heads/${branch}`) : undefined;
  if (at === undefined) return undefined;
  while (at !== undefined) {
    const commit: LooseCommit | undefined = looseCommit(dir, at);
    if (commit === undefined) return undefined;
    if (!options.includes('--merges') || commit.parents.length > 1) found.push(at);
    [at] = commit.parents;
  }
  return options.includes('--reverse') ? found.toReversed() : found;
}

function lineOf(format: string, id: string, commit: LooseCommit): string {
  return `${format.replaceAll(/%(n|[HTPBsb]|[ac][ne])/g, (_, what: string) => shown(id, commit, what))}\n`;
}

/** In UTF-8, a subject of one line, nothing in front of it. */
function isPlain({ text, message }: LooseCommit): boolean {
  return (
    !/^(encoding|gpgsig) /m.test(text) &&
    /^\S[^\n]*(\n\n[\s\S]*|\n?)$/.test(message) &&
    !/[ \t]\n/.test(message)
  );
}

function shown(id: string, { tree, parents, message, author, committer }: LooseCommit, what: string): string {
  const [subject = ''] = message.split('\n', 1);
  const values: { readonly [what: string]: string } = {
    n: '\n',
    H: id,
    T: tree,
    P: parents.join(' '),
    B: message,
    s: subject,
    b: message.slice(subject.length).replace(/^\n+/, ''),
    an: author.name,
    ae: author.email,
    cn: committer.name,
    ce: committer.email,
  };
  return values[what] ?? '';
}

async function updateRef(dir: string, args: readonly string[]): Promise<Answer> {
  const isRemoval = args[0] === '-d';
  const [ref = '', ...ids] = isRemoval ? args.slice(1) : args;
  if (!ref.startsWith('refs/') || !ids.every(each => ID.test(each))) return undefined;
  const [to, from] = isRemoval ? [null, ids[0]] : ids;
  if (to === undefined || (to !== null && looseCommit(dir, to) === undefined)) return undefined;
  return (await writeRef(dir, ref, to, from)) ? '' : undefined;
}
