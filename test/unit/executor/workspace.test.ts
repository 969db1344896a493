/** The workspace a job finds: exactly the given commits, with and without overlays, and no traces of other builds. */
import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { randomIds } from '../../../src/lib/ids.ts';
import { parseCommitId, projectKey } from '../../../src/model/project.ts';
import { createGitRepository } from '../../fake/git-repository.ts';
import { describeOnBubblewrap } from '../../setup/bubblewrap.ts';
import { buildRequest, CANONICAL, openBench, projectAt, script } from './fixture.ts';

const LIB = projectKey({ connection: 'local', name: 'acme/lib' });

/** What git itself says of the checkout: the tree it would commit, whether it is clean, where HEAD is. */
const LOOK = `for folder in "$ZUUL_SRC_DIR"/*/*/*; do
  cd "$folder" || exit 1
  echo "tree $(git write-tree) clean '$(git status --porcelain)' head $(git rev-parse HEAD) on $(git symbolic-ref -q --short HEAD) in $folder"
  git fsck --connectivity-only >/dev/null 2>&1 || echo "BROKEN $folder"
done`;

for (const mode of ['none', 'auto'] as const) {
  const bench = await openBench({ sandbox: mode, maxBuilds: 1, labels: ['big'] });
  const other = await createGitRepository(join(bench.folder, 'git'));
  afterAll(async () => {
    await bench[Symbol.asyncDispose]();
  });
  bench.mirrors.set(LIB, other.path);
  const { repository } = bench;

  async function look(request: ReturnType<typeof buildRequest>): Promise<string> {
    const { result, log } = await bench.submit(request).ended;
    expect(result).toMatchObject({ result: 'SUCCESS' });
    expect(log).not.toContain('BROKEN');
    return log;
  }

  describe(`a workspace with ${bench.executor.isolated ? 'bubblewrap' : 'no sandbox'} (sandbox = ${mode})`, () => {
    test('is where the scheme of the job has it, and begins there', async () => {
      const commit = await bench.commit({
        'ci/where.sh': script('pwd; ls "$ZUUL_SRC_DIR"; cat app.txt'),
        'app.txt': 'app\n',
      });
      const request = buildRequest(
        commit,
        { run: ['ci/where.sh'] },
        { projects: [projectAt(commit, { place: 'app' })] },
      );
      const log = await look(request);
      expect(log).toMatch(/\| .*\/src\/app\n.* \| app\n.* \| app\n/);
    });

    test.each([
      ['false', false, []],
      ['auto, in a job with nodes', 'auto', [{ name: 'n', label: 'big' }]],
    ] as const)(
      'has only repositories where workspace-checkout is %s',
      async (_, workspaceCheckout, nodes) => {
        const commit = await bench.commit({
          'ci/bare.sh': script(
            'ls -A; git status --porcelain | wc -l; git reset -q --hard && ls -A; git symbolic-ref HEAD; git rev-parse HEAD',
          ),
          'app.txt': 'app\n',
        });
        const request = buildRequest(
          commit,
          { run: ['ci/bare.sh'] },
          { jobFacts: { workspaceCheckout, nodes } },
        );
        const log = await look(request);
        const lines = log
          .split('\n')
          .map(line => line.split(' | ')[1])
          .filter(line => line !== undefined);
        expect(lines.slice(0, 2)).toEqual(['.git', expect.stringMatching(/^ *[1-9]/)]);
        expect(lines).toContain('app.txt');
        expect(lines.slice(-2)).toEqual(['refs/heads/main', commit]);
      },
    );

    test('has files where workspace-checkout is auto and the job has no nodes', async () => {
      const commit = await bench.commit({ 'ci/auto.sh': script('cat app.txt'), 'app.txt': 'of the app\n' });
      const request = buildRequest(
        commit,
        { run: ['ci/auto.sh'] },
        { jobFacts: { workspaceCheckout: 'auto' } },
      );
      expect(await look(request)).toContain('| of the app');
    });

    test('is the tree of the commit, clean, on its branch, after any earlier contents', async () => {
      const commits: string[] = [];
      for (const files of [
        { 'a.txt': '1\n', 'dir/b.txt': 'b\n', 'gone.txt': 'x\n' },
        { 'a.txt': '2\n', 'gone.txt': null, 'becomes/dir.txt': 'd\n' },
        { 'becomes/dir.txt': null, becomes: 'a file\n', 'dir/b.txt': null, 'dir/c/d.txt': 'deep\n' },
      ]) {
        await repository.commit({ files });
        commits.push(await bench.commit({ 'ci/look.sh': script(LOOK) }));
      }
      // Forward, back, the same again, and a jump: a kept checkout has to follow all of it.
      for (const commit of [
        commits[0],
        commits[1],
        commits[2],
        commits[2],
        commits[0],
        commits[2],
      ] as string[]) {
        const log = await look(buildRequest(commit, { run: ['ci/look.sh'] }));
        const tree = await repository.git('rev-parse', `${commit}^{tree}`);
        expect(log).toContain(`| tree ${tree} clean '' head ${commit} on main in `);
      }
    });

    test('keeps modes, links, empty files, odd names and line ends as the commit has them', async () => {
      const link = (await repository.raw(['hash-object', '-w', '--stdin'], '../../etc/passwd'))
        .toString()
        .trim();
      const text = (await repository.raw(['hash-object', '-w', '--stdin'], 'one\r\ntwo\n')).toString().trim();
      const attributes = (
        await repository.raw(['hash-object', '-w', '--stdin'], '*.evil filter=evil\n*.crlf text eol=crlf\n')
      )
        .toString()
        .trim();
      const lf = (await repository.raw(['hash-object', '-w', '--stdin'], 'one\ntwo\n')).toString().trim();
      const look_ = (await repository.raw(['hash-object', '-w', '--stdin'], script(LOOK))).toString().trim();
      const entries = [
        `100644 blob ${attributes}\t.gitattributes`,
        `120000 blob ${link}\tlink`,
        `100755 blob ${look_}\tlook.sh`,
        `100644 blob ${text}\tmixed.txt`,
        `100644 blob ${text}\tsp ace\n"é`,
        `100644 blob ${text}\tx.evil`,
        `100644 blob ${lf}\ty.crlf`,
      ];
      const listed = entries.map(entry => `${entry}\u0000`).join('');
      const tree = (await repository.raw(['mktree', '-z'], listed)).toString().trim();
      const commit = await repository.git('commit-tree', tree, '-m', 'odd');
      const log = await look(buildRequest(commit, { run: ['look.sh'] }));
      expect(log).toContain(`tree ${tree} clean '' head ${commit} on main`);
    });

    test('holds several projects, detached where there is no branch, with slashes in branch names', async () => {
      const commit = await bench.commit({ 'ci/look.sh': script(LOOK) });
      const theirs = await other.commit({ files: { 'lib.txt': 'lib\n' } });
      const library = {
        canonicalName: 'git.example.org/acme/lib',
        project: LIB,
        commit: parseCommitId(theirs),
      };
      for (const [branch, shown] of [
        ['stable/1.0', 'stable/1.0'],
        [null, ''],
      ] as const) {
        const request = buildRequest(commit, { run: ['ci/look.sh'] });
        const log = await look({
          ...request,
          projects: [...request.projects, projectAt(theirs, { ...library, branch })],
        });
        expect(log).toContain(`head ${commit} on main in `);
        expect(log).toMatch(new RegExp(`head ${theirs} on ${shown} in .*/src/git.example.org/acme/lib`));
      }
    });

    test('holds a project within another', async () => {
      const commit = await bench.commit({
        'ci/look.sh': script(
          'cat ../plugin/lib.txt plugin/lib.txt 2>/dev/null; cd plugin && git status --porcelain && git rev-parse HEAD',
        ),
      });
      const theirs = await other.commit({ files: { 'lib.txt': 'nested library\n' } });
      const nested = projectAt(theirs, { canonicalName: `${CANONICAL}/plugin`, project: LIB });
      const request = buildRequest(commit, { run: ['ci/look.sh'] });
      const log = await look({ ...request, projects: [...request.projects, nested] });
      expect(log).toContain('| nested library');
      expect(log).toContain(`| ${theirs}`);
    });

    test('has nowhere to fetch from or push to', async () => {
      const commit = await bench.commit({
        'ci/push.sh': script(
          'git remote -v; git fetch origin 2>&1 || echo dead; git push origin HEAD 2>&1 || echo dead',
        ),
      });
      const log = await look(buildRequest(commit, { run: ['ci/push.sh'] }));
      expect(log).toContain('file:///dev/null');
      expect(log.match(/\| dead/g)).toHaveLength(2);
    });

    test('lets the job commit, branch and rebase without the cache noticing', async () => {
      const commit = await bench.commit({
        'ci/work.sh': script(
          'set -e; git config user.email a@b; git config user.name a; git checkout -qb topic; echo x > new; git add new; git commit -qm new; git gc -q; git repack -adq; git log --oneline | wc -l; echo worked',
        ),
      });
      const before = await repository.git('count-objects', '-v');
      const log = await look(buildRequest(commit, { run: ['ci/work.sh'] }));
      expect(log).toContain('| worked');
      expect(await repository.git('count-objects', '-v')).toBe(before);
      expect(await repository.git('for-each-ref', 'refs/heads/topic')).toBe('');
    });

    test('runs playbooks at their own commit, not at the one that is tested', async () => {
      const old = await bench.commit({
        'ci/which.sh': script(
          'echo playbook of the old commit; cat ci/which.sh | tail -1; cat "$(dirname "$0")/beside.txt"',
        ),
        'ci/beside.txt': 'beside it\n',
      });
      const tested = await bench.commit({ 'ci/which.sh': script('echo playbook of the new commit') });
      const log = await look({
        ...buildRequest(old, { run: ['ci/which.sh'] }),
        projects: [projectAt(tested)],
      });
      expect(log).toContain('| playbook of the old commit');
      expect(log).toContain('| echo playbook of the new commit');
      expect(log).toContain('| beside it');
    });

    test('refuses a place outside src and a branch that is none', async () => {
      const commit = await bench.commit({ 'ci/ok.sh': script('true') });
      for (const facts of [
        { canonicalName: '../../escape' },
        { canonicalName: 'host/.git/x' },
        { branch: '../x' },
        { branch: 'a b' },
      ]) {
        const { result } = await bench.submit({
          ...buildRequest(commit, { run: ['ci/ok.sh'] }),
          projects: [projectAt(commit, facts)],
        }).ended;
        expect(result.result).toBe('RETRY');
        expect(result.detail).toMatch(/is not usable as a place below src|cannot be checked out/);
      }
    });
  });
}

const bench = await openBench({ sandbox: 'auto', maxBuilds: 1 });
afterAll(() => bench[Symbol.asyncDispose]());

describeOnBubblewrap('a kept checkout', () => {
  test('that was damaged, or being changed when we were killed, is made again', async () => {
    const first = await bench.commit({ 'ci/look.sh': script(LOOK), 'a.txt': '1\n' });
    const second = await bench.commit({ 'a.txt': '2\n' });
    const run = (commit: string) => bench.submit(buildRequest(commit, { run: ['ci/look.sh'] })).ended;
    await run(first);
    const kept = join(bench.folder, 'jobs', '.kept', '0');
    for (const key of await readdir(kept)) await writeFile(join(kept, key, 'tree', 'a.txt'), 'damaged\n');
    const tree = await bench.repository.git('rev-parse', `${second}^{tree}`);
    expect((await run(second)).log).toContain(`tree ${tree} clean '' head ${second}`);
    for (const key of await readdir(kept)) await rm(join(kept, key, 'state'));
    expect((await run(first)).log).toContain(`clean '' head ${first}`);
  });

  test('that comes from another commit has the same in its .git as one that is made', async () => {
    const list =
      'cd .git && find . -type f ! -name index | sort | xargs cat | sha256sum; find . | sort | sha256sum';
    const commits = [
      await bench.commit({ 'ci/list.sh': script(list) }),
      await bench.commit({ 'b.txt': 'another\n' }),
    ];
    const listed = async (commit = '') => {
      const { log } = await bench.submit(buildRequest(commit, { run: ['ci/list.sh'] })).ended;
      return log.match(/\| [0-9a-f]{64} {2}-$/gm) ?? [];
    };
    await listed(commits[0]);
    const moved = await listed(commits[1]);
    await rm(join(bench.folder, 'jobs', '.kept', '0'), { recursive: true });
    expect(moved).toHaveLength(2);
    expect(await listed(commits[1])).toEqual(moved);
  });

  test('of a project stays until its build ends, however many projects the build has', async () => {
    const commit = await bench.commit({
      'ci/count.sh': script('ls "$ZUUL_SRC_DIR"/git.example.org/acme/*/ci'),
    });
    const names = Array.from({ length: 30 }, (_, at) => `git.example.org/acme/part-${at}`);
    const projects = names.map(canonicalName => projectAt(commit, { canonicalName }));
    const request = { ...buildRequest(commit, { run: ['ci/count.sh'] }), projects };
    for (let times = 0; times < 2; times++) {
      const { result, log } = await bench.submit({ ...request, uuid: randomIds().uuid() }).ended;
      expect(result).toMatchObject({ result: 'SUCCESS' });
      expect(log.match(/\| count\.sh$/gm)).toHaveLength(projects.length);
    }
  });

  test('costs nothing the second time: the step says so', async () => {
    const commit = await bench.commit({ 'ci/ok.sh': script('true') });
    const cached = async () => {
      const { result } = await bench.submit(buildRequest(commit, { run: ['ci/ok.sh'] })).ended;
      return result.execution?.steps
        .filter(({ kind }) => kind === 'BuildCheckout')
        .map(({ facts }) => facts?.cached);
    };
    expect(await cached()).toEqual([false]);
    expect(await cached()).toEqual([true]);
  });
});
