/** Landing by push on the fake GitHub: exactly the tested commit, with any rule of the branch and any interruption. */
import { describe, expect, test } from 'vitest';
import { type ActingStand, openActingStand } from './acting-stand.ts';
import type { CheckRun } from './fake/world.ts';

const pushes = ({ github }: ActingStand) =>
  github.requests.filter(({ operation, method }) => operation === 'git/push' && method === 'POST').length;

/** Requests of the landing itself. */
const asked = ({ github }: ActingStand, from: number) =>
  github.requests
    .slice(from)
    .map(({ operation }) => operation)
    .filter(each => !each.startsWith('apps/'));

const WORDS = { merge: true, check: 'success', comment: false };

describe('a push', () => {
  test('lands exactly the tested commit, and GitHub marks the pull request merged (case 49)', async () => {
    await using stand = await openActingStand();
    const tested = await stand.merge();
    const { land } = stand.startProcess();
    const from = stand.github.requests.length;
    expect(await land(WORDS, tested)).toEqual({
      kind: 'landed',
      landed: [{ project: stand.change.project, branch: 'main', commit: tested.commit, tree: tested.tree }],
    });
    expect(await stand.github.tip(stand.repository, 'main')).toBe(tested.commit);
    expect(stand.pull.now).toMatchObject({ state: 'closed', merged: true });
    expect(asked(stand, from)).toEqual(['graphql', 'git/push', 'git/push']);
    expect(await land(WORDS, tested)).toMatchObject({ kind: 'landed' });
    expect(pushes(stand)).toBe(1);
  });

  test('is not sent when the branch moved, the head moved or the pull request was closed', async () => {
    await using stand = await openActingStand();
    const { github, repository, pull } = stand;
    const tested = await stand.merge();
    const { land } = stand.startProcess();
    await github.close(repository, pull);
    expect(await land(WORDS, tested)).toEqual({ kind: 'refused', text: 'the pull request was closed' });
    await github.reopen(repository, pull);
    await github.push(repository, 'main', { files: { 'b.txt': 'b\n' } });
    expect(await land(WORDS, tested)).toMatchObject({ kind: 'base-moved' });
    expect(pushes(stand)).toBe(0);
  });

  test('does not move a branch that another push moved since it was asked for', async () => {
    await using stand = await openActingStand();
    const { github, repository } = stand;
    const tested = await stand.merge();
    const what = () => github.push(repository, 'main', { files: { 'b.txt': 'b\n' } });
    github.faults.add({ operation: 'git/push', does: { kind: 'after', what } });
    expect(await stand.startProcess().land(WORDS, tested)).toMatchObject({ kind: 'base-moved' });
    expect(stand.pull.now).toMatchObject({ state: 'open', merged: false });
  });

  test('of a squash closes the pull request with a comment, once, wherever an answer is lost', async () => {
    for (const operation of [undefined, 'git/push', 'issues/create-comment', 'pulls/update']) {
      await using stand = await openActingStand();
      const { github, pull } = stand;
      const tested = await stand.merge('squash-merge');
      const from = github.requests.length;
      if (operation !== undefined)
        github.faults.add({ operation, path: /(?<!info\/refs.*)$/, does: { kind: 'reset', after: true } });
      expect(await landAgain(stand, tested)).toMatchObject({ kind: 'landed' });
      expect(await landAgain(stand, tested)).toMatchObject({ kind: 'landed' });
      if (operation === undefined)
        expect(asked(stand, from).slice(0, 5)).toEqual([
          ...['graphql', 'git/push', 'git/push', 'issues/create-comment', 'pulls/update'],
        ]);
      expect(pull.now).toMatchObject({ state: 'closed', merged: false });
      expect(pull.comments).toHaveLength(1);
    }
  });

  test('is not sent by a process that may not act', async () => {
    await using stand = await openActingStand();
    const tested = await stand.merge();
    await expect(stand.startProcess().land(WORDS, tested, () => false)).rejects.toThrow('may not act');
    expect(Object.keys(await stand.branches())).toContain('main');
    expect(await stand.github.tip(stand.repository, 'main')).toBe(tested.before);
  });

  test('that a rule of the branch forbids is refused with what to do', async () => {
    await using stand = await openActingStand();
    await stand.github.protect(stand.repository, 'main', { approvals: 1 });
    const outcome = await stand.startProcess().land(WORDS, await stand.merge());
    expect(outcome).toEqual({
      kind: 'refused',
      text: expect.stringMatching(/GH006.*pull request.*landing = api/),
    });
  });
});

describe('a branch that requires our check on the pushed commit', () => {
  test('gets the commit through a staging branch, which is gone afterwards', async () => {
    await using stand = await openActingStand();
    await stand.github.protect(stand.repository, 'main', { checks: ['acme/gate'] });
    const tested = await stand.merge();
    const { land, report } = stand.startProcess();
    expect(await land(WORDS, tested)).toMatchObject({ kind: 'landed' });
    expect(await report(WORDS)).toEqual({ kind: 'done' });
    expect(await stand.github.tip(stand.repository, 'main')).toBe(tested.commit);
    expect(Object.keys(await stand.branches()).filter(name => name.startsWith('gatehouse/'))).toEqual([]);
    expect(stand.repository.checks.map(({ headSha, conclusion }) => [headSha, conclusion])).toEqual([
      [tested.commit, 'success'],
      [stand.change.commit, 'success'],
    ]);
  });

  test('gets it later where GitHub has not noticed the commit or our check yet', async () => {
    await using stand = await openActingStand();
    const { github, repository } = stand;
    await github.protect(repository, 'main', { checks: ['acme/gate'] });
    const tested = await stand.merge();
    const { land } = stand.startProcess();
    const message = `No commit found for SHA: ${tested.commit}`;
    github.faults.add({ operation: 'checks/create', does: { kind: 'status', status: 422, message } });
    expect(await land(WORDS, tested)).toMatchObject({ kind: 'later', notBefore: expect.anything() });

    const taken: CheckRun[] = [];
    const unnoticed = async () => void taken.push(...repository.checks.splice(0));
    github.faults.add({ operation: 'git/push', method: 'POST', does: { kind: 'after', what: unnoticed } });
    expect(await land(WORDS, tested)).toMatchObject({ kind: 'later', notBefore: expect.anything() });
    repository.checks.push(...taken);
    expect(await land(WORDS, tested)).toMatchObject({ kind: 'landed', landed: [{ commit: tested.commit }] });
    expect(Object.keys(await stand.branches()).filter(name => name.startsWith('gatehouse/'))).toEqual([]);
  });

  test('and the check of another App of that name is refused after a few tries', async () => {
    await using stand = await openActingStand();
    const { github, repository } = stand;
    await github.protect(repository, 'main', { checks: [{ context: 'acme/gate', app: 999 }] });
    const tested = await stand.merge();
    const { land } = stand.startProcess();
    const outcomes: string[] = [];
    for (let tries = 0; tries < 6; tries++) outcomes.push((await land(WORDS, tested)).kind);
    expect(outcomes).toEqual([...Array.from({ length: 5 }, () => 'later'), 'refused']);
    expect(Object.keys(await stand.branches()).filter(name => name.startsWith('gatehouse/'))).toEqual([]);
  });

  test('and a check of others is refused, with the setting that lacks, and nothing is left behind', async () => {
    await using stand = await openActingStand();
    await stand.github.protect(stand.repository, 'main', { checks: ['acme/gate', 'lint'] });
    expect(await stand.startProcess().land(WORDS, await stand.merge())).toEqual({
      kind: 'refused',
      text: expect.stringMatching(/2 of 2 required.*let the App bypass the rule, or set landing = api/),
    });
    expect(Object.keys(await stand.branches()).filter(name => name.startsWith('gatehouse/'))).toEqual([]);
  });

  test('and a reporter that gives none is refused with what to add', async () => {
    await using stand = await openActingStand();
    await stand.github.protect(stand.repository, 'main', { checks: ['acme/gate'] });
    expect(await stand.startProcess().land({ merge: true }, await stand.merge())).toMatchObject({
      kind: 'refused',
      text: expect.stringContaining('add check or status'),
    });
  });

  test('ends in the same state wherever an answer is lost, or is not given', async () => {
    for (const [operation, time, after] of [
      ['git/push', 2, true],
      ['git/push', 3, true],
      ['git/push', 3, false],
      ['checks/create', 1, true],
    ] as const) {
      await using stand = await openActingStand();
      await stand.github.protect(stand.repository, 'main', { checks: ['acme/gate'] });
      const tested = await stand.merge();
      // All but the last of these are served: the fault is of that one.
      for (let served = 1; served < time; served++)
        stand.github.faults.add({ operation, method: 'POST', does: { kind: 'late', ms: 0 } });
      stand.github.faults.add({ operation, method: 'POST', does: { kind: 'reset', after } });
      const outcome = await landAgain(stand, tested);
      expect(outcome).toMatchObject({ kind: 'landed', landed: [{ commit: tested.commit }] });
      expect(Object.keys(await stand.branches()).filter(name => name.startsWith('gatehouse/'))).toEqual([]);
      expect(stand.repository.checks).toHaveLength(1);
    }
  });
});

/** As the scheduler does: a process that was interrupted is followed by one that remembers nothing. */
async function landAgain(stand: ActingStand, tested: Awaited<ReturnType<ActingStand['merge']>>) {
  for (let tries = 0; tries < 5; tries++) {
    try {
      const outcome = await stand.startProcess().land(WORDS, tested);
      if (outcome.kind !== 'later') return outcome;
    } catch (error) {
      if (!(error instanceof Error && 'retryable' in error)) throw error;
    }
  }
  return expect.unreachable('it has not landed after five tries');
}
