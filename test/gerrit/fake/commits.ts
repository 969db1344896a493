/** What commits say, read once: objects do not change. */
import { runGit } from '../../fake/git-repository.ts';
import { EMPTY_TREE, git, type Person } from './bare-git.ts';

export interface CommitText {
  readonly id: string;
  readonly tree: string;
  readonly parents: readonly string[];
  readonly author: Person & { readonly seconds: number };
  readonly committer: Person & { readonly seconds: number };
  /** Complete, with its last line break. */
  readonly message: string;
}

export interface FileStat {
  readonly path: string;
  readonly inserted: number;
  readonly deleted: number;
  readonly status: 'A' | 'D' | 'M';
}

/** Answers by repository and commit; a fake's repositories have names that no other fake has. */
const commits = new Map<string, Promise<CommitText>>();
const stats = new Map<string, Promise<readonly FileStat[]>>();

/** At most as many answers are kept as one long test needs. */
function kept<T>(known: Map<string, Promise<T>>, key: string, ask: () => Promise<T>): Promise<T> {
  const found = known.get(key);
  if (found !== undefined) return found;
  if (known.size > 20_000) known.clear();
  const answer = ask();
  known.set(key, answer);
  answer.catch(() => known.delete(key));
  return answer;
}

/** @throws Error if there is no such commit */
export function readCommit(dir: string, id: string): Promise<CommitText> {
  return kept(commits, `${dir} ${id}`, async () => {
    const text = await git(dir, 'cat-file', 'commit', id);
    const split = text.indexOf('\n\n');
    const lines = (split < 0 ? text : text.slice(0, split)).split('\n');
    const values = (name: string) =>
      lines.filter(line => line.startsWith(`${name} `)).map(line => line.slice(name.length + 1));
    return {
      id,
      tree: values('tree')[0] ?? '',
      parents: values('parent'),
      author: person(values('author')[0] ?? ''),
      committer: person(values('committer')[0] ?? ''),
      message: split < 0 ? '' : `${text.slice(split + 2)}\n`,
    };
  });
}

function person(line: string): CommitText['author'] {
  const found = /^(.*) <(.*)> (\d+) /.exec(line);
  return { name: found?.[1] ?? '', email: found?.[2] ?? '', seconds: Number(found?.[3] ?? 0) };
}

/** Against the first parent. */
export function fileStats(dir: string, id: string): Promise<readonly FileStat[]> {
  return kept(stats, `${dir} ${id}`, async () => {
    const [parent] = (await readCommit(dir, id)).parents;
    const args = ['diff-tree', '-r', '--no-renames', '--numstat', '--summary', parent ?? EMPTY_TREE, id];
    const lines = (await git(dir, ...args)).split('\n').filter(Boolean);
    const made = new Set(lines.flatMap(line => /^ create mode \d+ (.*)$/.exec(line)?.[1] ?? []));
    const gone = new Set(lines.flatMap(line => /^ delete mode \d+ (.*)$/.exec(line)?.[1] ?? []));
    return lines.flatMap(line => {
      const found = /^(\d+|-)\t(\d+|-)\t(.*)$/.exec(line);
      if (found === null) return [];
      const [, inserted = '0', deleted = '0', name = ''] = found;
      const status = made.has(name) ? 'A' : gone.has(name) ? 'D' : 'M';
      return [{ path: name, inserted: Number(inserted) || 0, deleted: Number(deleted) || 0, status }];
    });
  });
}

/** Of the last paragraph; the last one counts. */
export function changeIdIn(message: string): string | undefined {
  const last =
    message
      .trimEnd()
      .split(/\n\s*\n/)
      .at(-1) ?? '';
  return [...last.matchAll(/^Change-Id:\s*(I[0-9a-f]{40})\s*$/gm)].at(-1)?.[1];
}

/** Files of a commit that differ from its first parent's: content by path, null where it is gone. */
export async function changedFiles(
  dir: string,
  id: string,
): Promise<{ readonly [path: string]: string | null }> {
  const pairs = (await fileStats(dir, id)).map(async ({ path, status }) => {
    if (status === 'D') return [path, null] as const;
    const bytes = await runGit(dir, ['cat-file', 'blob', `${id}:${path}`]);
    return [path, bytes.toString()] as const;
  });
  return Object.fromEntries(await Promise.all(pairs));
}
