/** What can go wrong between the tested commit and the branch; the plain cases are in test/conformance/driver. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parseBranchTemplate } from '../../../../drivers/git/branch-template.ts';
import { landInOrder } from '../../../../drivers/git/land.ts';
import { createCommitTexts } from '../../../../drivers/git/mirror-reads.ts';
import type { Templates } from '../../../../drivers/git/ref-view.ts';
import { HostFailed, openProjectGit, type ProjectGit } from '../../../../drivers/git/remote-git.ts';
import type { LandingOutcome } from '../../../../src/driver/landing.ts';
import { createGit } from '../../../../src/git/process/git.ts';
import { openRepositoryCache, type RepositoryCache } from '../../../../src/git/repository-cache.ts';
import { startAside } from '../../../../src/git/starter/start-aside.ts';
import { derivedUuid } from '../../../../src/lib/ids.ts';
import type { ChangeKey } from '../../../../src/model/change.ts';
import { parseCommitId } from '../../../../src/model/project.ts';
import { createGate, type Gate, type Tested } from '../../../conformance/driver/gate.ts';
import { type GitHost, openGitHost } from '../../../conformance/driver/git-host.ts';
import type { GitRepository } from '../../../fake/git-repository.ts';

const template = (source: string) => {
  const parsed = parseBranchTemplate(source);
  return parsed.kind === 'template' ? parsed.template : expect.unreachable(parsed.reason);
};
const templates: Templates = {
  proposals: template('for/{branch}/{topic}'),
  approvals: template('gate/{branch}/{topic}'),
};

const MERGE = { merge: true, note: false };
let host: GitHost;
let gate: Gate;
let app: GitRepository;

beforeEach(async () => {
  host = await openGitHost();
  gate = createGate(host);
  app = host.repository(host.projects[0]);
});
afterEach(() => host[Symbol.asyncDispose]());

async function projectGit(repositories: RepositoryCache = host.repositories): Promise<ProjectGit> {
  const git = createGit({
    identity: { name: 'Gatehouse', email: 'gatehouse@example.org' },
    start: startAside,
  });
  return openProjectGit(host.projects[0], {
    repositories,
    git,
    texts: createCommitTexts(),
    remoteOf: host.connection.remote,
  });
}

async function land(key: ChangeKey, tested: Tested, git: ProjectGit): Promise<LandingOutcome | undefined> {
  const [outcome] = await landInOrder([{ change: gate.proposal(key), tested }], templates, git);
  return outcome;
}

const landed = ({ commit, tree }: Tested) => ({
  kind: 'landed',
  landed: [{ project: host.projects[0], branch: 'main', commit, tree }],
});

async function heads(): Promise<readonly string[]> {
  return (await app.git('for-each-ref', '--format=%(refname:short)', 'refs/heads')).split('\n');
}

async function proposed(topic: string): Promise<ChangeKey> {
  const { key } = await host.propose({ topic });
  await host.approve(topic);
  await gate.settle();
  return key;
}

describe('landing', () => {
  test('removes proposal and approval in the push that moves the branch', async () => {
    const key = await proposed('a');
    const tested = await gate.merge(key);
    await gate.land(key, MERGE, tested);
    expect(await heads()).toEqual(['main']);
    expect(host.repositories.counters().pushes).toBe(1);
    expect(await app.git('show', '-s', '--format=%B', 'main')).toBe(
      'Merge acme/app main/a\n\na\n\nChange: local/acme/app#main/a\n',
    );
  });

  test('is won by one of many who try at once', async () => {
    const keys = await Promise.all(['a', 'b', 'c', 'd'].map(topic => host.propose({ topic }))).then(all =>
      all.map(({ key }) => key),
    );
    await gate.settle();
    const tested = await Promise.all(keys.map(key => gate.merge(key)));
    const outcomes = await Promise.all(
      keys.map((key, index) => gate.land(key, MERGE, tested[index] ?? expect.unreachable())),
    );
    expect(outcomes.map(({ kind }) => kind).toSorted()).toEqual([
      'base-moved',
      'base-moved',
      'base-moved',
      'landed',
    ]);
    const winner = outcomes.findIndex(({ kind }) => kind === 'landed');
    expect(await host.tip(host.projects[0])).toBe(tested[winner]?.commit);
    expect((await heads()).filter(name => name.startsWith('for/'))).toHaveLength(3);
  });

  test('asked a second time at once is still done once', async () => {
    const key = await proposed('a');
    const tested = await gate.merge(key);
    const outcomes = await Promise.all([gate.land(key, MERGE, tested), gate.land(key, MERGE, tested)]);
    expect(outcomes).toEqual([landed(tested), landed(tested)]);
    expect(await host.tip(host.projects[0])).toBe(tested.commit);
  });

  test('loses the race by the lease when the branch moves between look and push', async () => {
    const key = await proposed('a');
    const tested = await gate.merge(key);
    const git = await projectGit();
    let tip = '';
    const racing: ProjectGit = {
      ...git,
      async push(changes) {
        tip = tip === '' ? await host.push({ fast: 'er' }) : tip;
        return git.push(changes);
      },
    };
    expect(await land(key, tested, racing)).toMatchObject({ kind: 'base-moved' });
    expect(await host.tip(host.projects[0])).toBe(tip);
    expect(await heads()).toEqual(['for/main/a', 'gate/main/a', 'main']);
  });

  test('never deletes a proposal that was pushed to between look and push', async () => {
    const key = await proposed('a');
    const tested = await gate.merge(key);
    const git = await projectGit();
    const racing: ProjectGit = {
      ...git,
      async push(changes) {
        await host.amend('a', { a: 'precious' });
        return git.push(changes);
      },
    };
    const outcome = await land(key, tested, racing);
    expect(outcome).toMatchObject({
      kind: 'refused',
      text: expect.stringContaining('the proposal is at'),
    });
    expect(await host.tip(host.projects[0])).toBe(tested.before);
    expect(await app.git('show', 'for/main/a:a')).toBe('precious');
  });

  test('stops when the approval is withdrawn between look and push', async () => {
    const key = await proposed('a');
    const tested = await gate.merge(key);
    const git = await projectGit();
    const racing: ProjectGit = {
      ...git,
      async push(changes) {
        await host.withdrawApproval('a');
        return git.push(changes);
      },
    };
    const outcome = await land(key, tested, racing);
    expect(outcome).toEqual({ kind: 'refused', text: 'its approval changed while it was merged' });
    expect(await host.tip(host.projects[0])).toBe(tested.before);
  });

  test('is found done when the answer of the push was lost', async () => {
    const key = await proposed('a');
    const tested = await gate.merge(key);
    const git = await projectGit();
    const deaf: ProjectGit = {
      ...git,
      async push(changes) {
        await git.push(changes);
        throw new Error('the connection broke');
      },
    };
    await expect(land(key, tested, deaf)).rejects.toThrow('broke');
    expect(await gate.land(key, MERGE, tested)).toEqual(landed(tested));
  });

  test('of the second change of an item tidies up only', async () => {
    const [a, b] = [await proposed('a'), await proposed('b')];
    const both = await gate.merge(a, b);
    expect(await gate.land(a, MERGE, both)).toEqual(landed(both));
    expect(await heads()).toEqual(['for/main/b', 'gate/main/b', 'main']);
    expect(await gate.land(b, MERGE, both)).toEqual(landed(both));
    expect(await heads()).toEqual(['main']);
    expect(await host.tip(host.projects[0])).toBe(both.commit);
  });

  test('of something that is no branch any more, no proposal, or was not tested is refused with the reason', async () => {
    const key = await proposed('a');
    const tested = await gate.merge(key);
    expect(await gate.land(key, MERGE)).toEqual({ kind: 'refused', text: 'nothing was tested' });
    await app.git('symbolic-ref', 'HEAD', 'refs/heads/other');
    await app.git('branch', '-D', 'main');
    expect(await gate.land(key, MERGE, tested)).toEqual({
      kind: 'refused',
      text: 'branch main is gone',
    });
  });

  test('says what a hook said, without the passwords of URLs, in one line', async () => {
    const key = await proposed('a');
    const tested = await gate.merge(key);
    await host.refuseMerges('ask https://bot:hunter2@wiki.example.org/freeze first');
    const outcome = await gate.land(key, MERGE, tested);
    expect(outcome).toMatchObject({
      kind: 'refused',
      text: expect.stringMatching(/^the code host refused the push: [^\n]*wiki\.example\.org\/freeze/),
    });
    expect(JSON.stringify(outcome)).not.toContain('hunter2');
  });

  test.each(['packed-refs.lock', 'refs/heads/main.lock'])(
    'waits for a lock at the host (%s): nothing moved and no rule was named, so nothing is decided',
    async lock => {
      const key = await proposed('a');
      const tested = await gate.merge(key);
      for (const wait of ['packedRefsTimeout', 'filesRefLockTimeout'])
        await app.git('config', `core.${wait}`, '50');
      await app.git('pack-refs', '--all');
      await writeFile(join(app.path, lock), '');
      const refused = await gate.land(key, MERGE, tested).then(
        () => undefined,
        (error: unknown) => error,
      );
      if (!(refused instanceof HostFailed)) expect.unreachable(String(refused));
      expect(refused.retryable).toBe(true);
      expect(refused.message).not.toContain(app.path);
      expect(await heads()).toEqual(['for/main/a', 'gate/main/a', 'main']);
      await rm(join(app.path, lock));
      expect(await gate.land(key, MERGE, tested)).toEqual(landed(tested));
    },
  );

  test('works on a machine whose merger did not make the merge', async () => {
    const key = await proposed('a');
    const tested = await gate.merge(key);
    const root = await mkdtemp(join(tmpdir(), 'gatehouse-other-'));
    const git = createGit({
      identity: { name: 'Gatehouse', email: 'gatehouse@example.org' },
      start: startAside,
    });
    const other = await openRepositoryCache({ root, git, mergeTreeMode: 'process-per-merge' });
    try {
      const elsewhere = await projectGit(other);
      expect(await land(key, tested, elsewhere)).toEqual(landed(tested));
      expect(await host.tip(host.projects[0])).toBe(tested.commit);
    } finally {
      await other.close();
      await rm(root, { recursive: true });
    }
  });

  test('of a commit that cannot be made again throws and changes nothing', async () => {
    const key = await proposed('a');
    const tested = { ...(await gate.merge(key)), commit: parseCommitId('d'.repeat(40)) };
    await expect(gate.land(key, MERGE, tested)).rejects.toThrow('cannot be made again');
    expect(await heads()).toEqual(['for/main/a', 'gate/main/a', 'main']);
  });
});

describe('landing several', () => {
  const TOPICS = ['a', 'b', 'c', 'd', 'e'];

  /** Proposed, approved, and tested one on top of the other. */
  async function ready(topics: readonly string[] = TOPICS) {
    const keys: ChangeKey[] = [];
    for (const topic of topics) keys.push(await proposed(topic));
    return { keys, tested: await gate.mergeInOrder(...keys) };
  }

  const pushes = () => host.repositories.counters().pushes;
  const kinds = (outcomes: readonly LandingOutcome[] | undefined) => outcomes?.map(({ kind }) => kind);

  /** The branch refuses commits that hold this file. */
  async function refuseFile(file: string): Promise<void> {
    const hooks = join(app.path, 'hooks');
    await mkdir(hooks, { recursive: true });
    const script = `#!/bin/sh
[ "$1" = refs/heads/main ] || exit 0
git cat-file -e "$3:${file}" 2>/dev/null || exit 0
echo "a rule forbids ${file}" >&2
exit 1
`;
    await writeFile(join(hooks, 'update'), script, { mode: 0o755 });
  }

  test('moves the branch once and removes all their refs in that push', async () => {
    const { keys, tested } = await ready();
    const before = pushes();
    expect(await gate.landInOrder(keys, MERGE, tested)).toEqual(tested.map(landed));
    expect(pushes() - before).toBe(1);
    expect(await heads()).toEqual(['main']);
    expect(await host.tip(host.projects[0])).toBe(tested.at(-1)?.commit);
  });

  test('moves every branch of the repository that they are for', async () => {
    await app.git('branch', 'stable', 'main');
    const a = await proposed('a');
    await host.propose({ topic: 'b' });
    await app.git('update-ref', 'refs/heads/for/stable/b', 'refs/heads/for/main/b');
    await app.git('update-ref', '-d', 'refs/heads/for/main/b');
    await gate.settle();
    const b = gate.records().find(({ change }) => change.kind === 'change' && change.id === 'stable/b');
    const key = b?.change.key ?? expect.unreachable();
    const tested = [await gate.merge(a), await gate.merge(key)];
    const before = pushes();
    expect(kinds(await gate.landInOrder([a, key], MERGE, tested))).toEqual(['landed', 'landed']);
    expect(pushes() - before).toBe(1);
    expect(await heads()).toEqual(['main', 'stable']);
  });

  test('names the one that the host refuses, lands those before it, and leaves those behind it', async () => {
    const { keys, tested } = await ready();
    await refuseFile('64.txt');
    const before = pushes();
    const outcomes = await gate.landInOrder(keys, MERGE, tested);
    expect(kinds(outcomes)).toEqual(['landed', 'landed', 'landed', 'refused']);
    expect(outcomes?.at(-1)).toMatchObject({ text: expect.stringContaining('a rule forbids 64.txt') });
    expect(await host.tip(host.projects[0])).toBe(tested[2]?.commit);
    expect(await heads()).toEqual(['for/main/d', 'for/main/e', 'gate/main/d', 'gate/main/e', 'main']);
    // Halves: five refused, three landed, two refused, one refused.
    expect(pushes() - before).toBe(4);
  });

  test('is found done when the answer of the push was lost', async () => {
    const { keys, tested } = await ready();
    const git = await projectGit();
    const deaf: ProjectGit = {
      ...git,
      async push(changes) {
        await git.push(changes);
        throw new Error('the connection broke');
      },
    };
    const changes = keys.map((key, index) => ({
      change: gate.proposal(key),
      tested: tested[index] ?? expect.unreachable(),
    }));
    const [first = expect.unreachable(), ...others] = changes;
    await expect(landInOrder([first, ...others], templates, deaf)).rejects.toThrow('broke');
    const before = pushes();
    expect(await gate.landInOrder(keys, MERGE, tested)).toEqual(tested.map(landed));
    expect(pushes()).toBe(before);
  });

  test('never deletes a proposal of them that was pushed to between look and push', async () => {
    const { keys, tested } = await ready(['a', 'b', 'c']);
    const git = await projectGit();
    let isFirst = true;
    const racing: ProjectGit = {
      ...git,
      async push(changes) {
        if (isFirst) await host.amend('b', { b: 'precious' });
        isFirst = false;
        return git.push(changes);
      },
    };
    const [first = expect.unreachable(), ...others] = keys.map((key, index) => ({
      change: gate.proposal(key),
      tested: tested[index] ?? expect.unreachable(),
    }));
    expect(kinds(await landInOrder([first, ...others], templates, racing))).toEqual(['landed']);
    expect(await host.tip(host.projects[0])).toBe(tested[0]?.commit);
    expect(await app.git('show', 'for/main/b:b')).toBe('precious');
    expect(kinds(await gate.landInOrder(keys, MERGE, tested))).toEqual(['landed', 'refused']);
  });

  test('that were not tested on each other lands the first', async () => {
    const [a, b] = [await proposed('a'), await proposed('b')];
    const tested = [await gate.merge(a), await gate.merge(b)];
    expect(kinds(await gate.landInOrder([a, b], MERGE, tested))).toEqual(['landed', 'base-moved']);
    expect(await host.tip(host.projects[0])).toBe(tested[0]?.commit);
  });

  test('works on a machine whose merger made none of the merges', async () => {
    const { keys, tested } = await ready(['a', 'b']);
    const root = await mkdtemp(join(tmpdir(), 'gatehouse-other-'));
    const git = createGit({
      identity: { name: 'Gatehouse', email: 'gatehouse@example.org' },
      start: startAside,
    });
    const other = await openRepositoryCache({ root, git, mergeTreeMode: 'process-per-merge' });
    try {
      const [first = expect.unreachable(), ...others] = keys.map((key, index) => ({
        change: gate.proposal(key),
        tested: tested[index] ?? expect.unreachable(),
      }));
      const elsewhere = await projectGit(other);
      expect(await landInOrder([first, ...others], templates, elsewhere)).toEqual(tested.map(landed));
    } finally {
      await other.close();
      await rm(root, { recursive: true });
    }
  });
});

describe('a note', () => {
  test('is written after the merge, on the commit of the change, in order of the reports', async () => {
    const { key, commit } = await host.propose({ topic: 'a' });
    await gate.settle();
    await gate.report(key, {}, { text: 'Build succeeded (check).', item: derivedUuid('check') });
    await gate.land(key, { merge: true }, await gate.merge(key));
    expect(await gate.report(key, { merge: true })).toEqual({ kind: 'done' });
    const text = await host.remarks({ key, commit });
    expect(text.match(/Build succeeded \(\w+\)/g)).toEqual([
      'Build succeeded (check)',
      'Build succeeded (gate)',
    ]);
  });

  test('that is refused is a failure', async () => {
    const key = await proposed('a');
    const hooks = join(app.path, 'hooks');
    await mkdir(hooks, { recursive: true });
    await writeFile(
      join(hooks, 'update'),
      '#!/bin/sh\ncase $1 in refs/notes/*) echo no notes here >&2; exit 1;; esac\n',
      { mode: 0o755 },
    );
    expect(await gate.report(key, {}, { action: 'failure' })).toMatchObject({
      kind: 'failed',
      text: expect.stringContaining('no notes here'),
    });
    expect(host.log.join()).toContain('could not be noted');
  });

  test('is not written when a change is enqueued or starts', async () => {
    const key = await proposed('a');
    expect(await gate.report(key, {}, { action: 'start' })).toEqual({ kind: 'done' });
    expect(await app.git('for-each-ref', 'refs/notes')).toBe('');
  });

  test('survives many writers', async () => {
    const { key, commit } = await host.propose({ topic: 'a' });
    await gate.settle();
    await Promise.all(
      [1, 2, 3].map(n => gate.report(key, {}, { text: `result ${n}`, item: derivedUuid(`${n}`) })),
    );
    const text = await host.remarks({ key, commit });
    expect([1, 2, 3].filter(n => text.includes(`result ${n}`))).toEqual([1, 2, 3]);
  });
});
