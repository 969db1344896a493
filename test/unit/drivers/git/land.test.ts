/** What can go wrong between the tested commit and the branch; the plain cases are in test/conformance/driver. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parseBranchTemplate } from '../../../../drivers/git/branch-template.ts';
import { land } from '../../../../drivers/git/land.ts';
import type { Templates } from '../../../../drivers/git/ref-view.ts';
import { HostFailed, openProjectGit, type ProjectGit } from '../../../../drivers/git/remote-git.ts';
import { createGit } from '../../../../src/git/git.ts';
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
  return openProjectGit(host.projects[0], { repositories, git, remoteOf: host.connection.remote });
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
    expect(await land(gate.proposal(key), tested, templates, racing)).toMatchObject({ kind: 'base-moved' });
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
    const outcome = await land(gate.proposal(key), tested, templates, racing);
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
    const outcome = await land(gate.proposal(key), tested, templates, racing);
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
    await expect(land(gate.proposal(key), tested, templates, deaf)).rejects.toThrow('broke');
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
      expect(await land(gate.proposal(key), tested, templates, elsewhere)).toEqual(landed(tested));
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
