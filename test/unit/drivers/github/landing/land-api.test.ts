/** Landing by GitHub's API: what is asked before, what GitHub's refusals mean, and what a lost answer is worth. */
import { describe, expect, test } from 'vitest';
import { createGithubLanding } from '../../../../../drivers/github/landing/github-landing.ts';
import { judgeMergeRefusal } from '../../../../../drivers/github/landing/merge-refusal.ts';
import {
  createGithubReporter,
  createReportMemories,
} from '../../../../../drivers/github/reporting/github-reporter.ts';
import type { ReporterWords } from '../../../../../drivers/github/reporting/report-context.ts';
import type { LandingOutcome } from '../../../../../src/driver/landing.ts';
import { fromMilliseconds, toMilliseconds } from '../../../../../src/lib/clock.ts';
import { refUpdateKey } from '../../../../../src/model/change.ts';
import type { Json } from '../../../../../src/model/job.ts';
import type { MergeMode } from '../../../../../src/model/merge-mode.ts';
import { parseCommitId } from '../../../../../src/model/project.ts';
import { sampleReport } from '../../../../fake/report.ts';
import { app, pullChange } from '../change.ts';
import { createPortWorld, Died, type PortWorld } from '../port-world.ts';

const id = (digit: string) => digit.repeat(40);
const change = pullChange(id('a'));
const BASE = { sha: id('b'), tree: id('c') };
const MADE = { sha: id('e'), tree: id('f') };
const tested = {
  base: parseCommitId(BASE.sha),
  before: parseCommitId(BASE.sha),
  beforeTree: BASE.tree,
  commit: parseCommitId(id('d')),
  tree: MADE.tree,
};
const LANDED: LandingOutcome = {
  kind: 'landed',
  landed: [{ project: app, branch: 'main', commit: parseCommitId(MADE.sha), tree: MADE.tree }],
};
const quiet = { debug() {}, info() {}, warn() {} };
const NOW = fromMilliseconds(1_000_000);
const unused = () => expect.unreachable('git is not used');

function startProcess(
  world: PortWorld,
  words: ReporterWords = { merge: true },
  mode?: MergeMode,
  clock = { now: () => NOW },
) {
  const deps = { api: world.api, log: quiet, wordsOf: (config: Json) => config as unknown as ReporterWords };
  const landing = createGithubLanding(
    {
      ...deps,
      clock,
      mode: 'api',
      git: { open: unused, remoteOf: unused },
      messageOf: () => 'Merge pull request #1\n\nLog in\n\nChange: 1\n',
    },
    createReportMemories(clock),
  );
  const reporter = createGithubReporter(deps, createReportMemories(clock));
  const config = words as unknown as Json;
  const report = sampleReport({ changes: [change] });
  const signal = AbortSignal.timeout(5_000);
  const { ref, commit } = change;
  const inputs = mode === undefined ? [] : [{ ref, commit, message: 'Log in\n\nWith a password.\n', mode }];
  return {
    land: (mayAct = () => true) =>
      landing.land({ config, change, tested: { ...tested, inputs }, report }, signal, mayAct),
    landed: () => landing.landed({ config, change, tested }, signal),
    report: () => reporter.report({ config, change, report }, signal),
    landing,
  };
}

function openWorld(): PortWorld {
  const world = createPortWorld(change.commit);
  world.branch = BASE;
  world.trees.set(BASE.sha, BASE.tree);
  world.merge = () => MADE;
  return world;
}

const refusing = (status: number, text: string) => () => ({ status, text });

describe('a merge', () => {
  test('is of the tested head, and its tree is read back (case 50)', async () => {
    const world = openWorld();
    expect(await startProcess(world, { merge: true }, 'squash-merge').land()).toEqual(LANDED);
    const [merge] = world.requests.filter(({ isWrite }) => isWrite);
    expect(merge?.parameters).toEqual({
      pull_number: 1,
      sha: change.commit,
      merge_method: 'squash',
      commit_title: 'Log in',
      commit_message: 'With a password.',
    });
    expect(world.requests.map(({ operation }) => operation)).toEqual([
      ...['landing-state', 'pulls/merge', 'git/get-commit'],
    ]);
  });

  test('that made another tree lands as what GitHub made: the caller compares', async () => {
    const world = openWorld();
    world.merge = () => ({ sha: id('e'), tree: id('0') });
    expect(await startProcess(world).land()).toMatchObject({ landed: [{ tree: id('0') }] });
  });

  test('is made on another commit with the same tree', async () => {
    const world = openWorld();
    world.branch = { sha: id('9'), tree: BASE.tree };
    expect(await startProcess(world).land()).toEqual(LANDED);
  });

  test('is not sent when the branch, the head or the pull request is not what was tested', async () => {
    const cases: readonly (readonly [(world: PortWorld) => void, LandingOutcome['kind'], string])[] = [
      [
        world => Object.assign(world, { branch: { sha: id('9'), tree: id('9') } }),
        'base-moved',
        'another tree',
      ],
      [world => Object.assign(world.pull, { head: { sha: id('9') } }), 'refused', 'is at 99999999'],
      [world => Object.assign(world.pull, { base: { ref: 'stable' } }), 'refused', 'for stable now'],
      [world => Object.assign(world.pull, { state: 'closed' }), 'refused', 'was closed'],
    ];
    for (const [disturb, kind, text] of cases) {
      const world = openWorld();
      disturb(world);
      expect(await startProcess(world).land()).toEqual({ kind, text: expect.stringContaining(text) });
      expect(world.writes()).toEqual([]);
    }
  });

  test('is not sent by a process that may not act', async () => {
    const world = openWorld();
    await expect(startProcess(world).land(() => false)).rejects.toThrow('NotHolder');
    expect(world.pull.merged).toBe(false);
  });

  test('of a ref update, or of nothing tested, is refused', async () => {
    const { landing } = startProcess(openWorld());
    const signal = AbortSignal.timeout(5_000);
    const commit = parseCommitId(id('d'));
    const ref = 'refs/heads/main';
    const update = { kind: 'ref', key: refUpdateKey(app, ref, commit), project: app, ref } as const;
    const pushed = { ...update, oldCommit: null, newCommit: commit };
    expect(await landing.land({ config: {}, change: pushed, tested }, signal, () => true)).toMatchObject({
      kind: 'refused',
    });
    expect(await landing.land({ config: {}, change }, signal, () => true)).toMatchObject({ kind: 'refused' });
    expect(await landing.landed({ config: {}, change: pushed, tested }, signal)).toEqual([]);
  });
});

describe('a merge that GitHub refuses (case 53)', () => {
  test('because the base moved is tested again', async () => {
    const world = openWorld();
    world.merge = () => {
      world.branch = { sha: id('9'), tree: id('9') };
      return { status: 405, text: 'Base branch was modified. Review and try the merge again.' };
    };
    expect(await startProcess(world).land()).toMatchObject({ kind: 'base-moved' });
  });

  test('because GitHub has not noticed yet where the base is, is sent again in a moment', async () => {
    const world = openWorld();
    world.merge = refusing(405, 'Base branch was modified. Review and try the merge again.');
    const { land } = startProcess(world);
    expect(await land()).toMatchObject({ kind: 'later', notBefore: fromMilliseconds(1_002_000) });
    world.merge = () => MADE;
    expect(await land()).toEqual(LANDED);
  });

  test('because the head moved is refused', async () => {
    const world = openWorld();
    world.merge = () => {
      world.pull.head = { sha: id('9') };
      return { status: 409, text: 'Head branch was modified. Review and try the merge again.' };
    };
    expect(await startProcess(world).land()).toEqual({
      kind: 'refused',
      text: 'the pull request is at 99999999, tested was aaaaaaaa',
    });
  });

  test('for a missing permission is refused with its name, once', async () => {
    const world = openWorld();
    const said = 'refusing to allow a GitHub App to create or update workflow without `workflows` permission';
    world.merge = refusing(403, said);
    expect(await startProcess(world).land()).toMatchObject({
      kind: 'refused',
      text: expect.stringContaining('workflows: write'),
    });
    expect(world.writes()).toEqual(['pulls/merge']);
  });

  test('as if it were not there is refused where GitHub shows it, and waits where access was lost', async () => {
    const world = openWorld();
    world.merge = refusing(404, 'Not Found');
    expect(await startProcess(world).land()).toMatchObject({
      kind: 'refused',
      text: expect.stringContaining('contents: write'),
    });
    let isLost = false;
    world.answer = ({ operation }) => {
      if (operation === 'pulls/merge') isLost = true;
      else if (isLost) return { kind: 'refused', status: 404, text: 'Not Found', errors: [] };
      return undefined;
    };
    expect(await startProcess(world).land()).toMatchObject({ kind: 'later', reason: 'denied' });
  });

  test('while it computes whether it can is sent again, and refused when it cannot', async () => {
    const world = openWorld();
    world.merge = refusing(405, 'Pull Request is not mergeable');
    world.pull.mergeable = null;
    const { land } = startProcess(world);
    expect(await land()).toMatchObject({ kind: 'later' });
    world.pull.mergeable = false;
    expect(await land()).toMatchObject({ kind: 'refused' });
  });

  test('while it never computes whether it can is sent again for ten minutes, which is no verdict', async () => {
    const world = openWorld();
    world.merge = refusing(405, 'Pull Request is not mergeable');
    world.pull.mergeable = null;
    let now = NOW;
    const { land } = startProcess(world, { merge: true }, undefined, { now: () => now });
    const pauses: number[] = [];
    let outcome = await land();
    while (outcome.kind === 'later' && outcome.notBefore !== undefined && pauses.length < 100) {
      expect(outcome.text).toMatch(/not mergeable.* asked for 10 minutes; then .* without a verdict/);
      pauses.push((toMilliseconds(outcome.notBefore) - toMilliseconds(now)) / 1_000);
      now = outcome.notBefore;
      outcome = await land();
    }
    expect(pauses).toEqual([2, 4, 8, 16, ...Array.from({ length: 19 }, () => 30)]);
    expect(outcome).toMatchObject({
      kind: 'refused',
      text: expect.stringMatching(/did not say for 10 minutes.*not mergeable.*no verdict on the change/),
    });
  });

  test('for a rule that we do not know is refused in GitHub’s words', () => {
    expect(judgeMergeRefusal(405, 'The moon is full')).toEqual({
      refused: 'GitHub did not merge: The moon is full',
    });
    expect(judgeMergeRefusal(422, 'Merge commits are not allowed on this repository.')).toMatchObject({
      refused: expect.stringContaining('not allowed on this repository'),
    });
  });
});

describe('our own check that the branch requires (case 51)', () => {
  const words: ReporterWords = { merge: true, check: 'success', comment: false };
  const required = 'Required status check "acme/gate" is expected.';

  function worldThatRequires(): PortWorld {
    const world = openWorld();
    world.merge = () => (world.runs[0]?.conclusion === 'success' ? MADE : { status: 405, text: required });
    return world;
  }

  test('is given when GitHub asks for it, before the merge, and is not written again after it', async () => {
    const world = worldThatRequires();
    const process = startProcess(world, words);
    expect(await process.land()).toEqual(LANDED);
    expect(await process.report()).toMatchObject({ kind: 'done' });
    expect(world.writes()).toEqual(['pulls/merge', 'checks/create', 'pulls/merge']);
    expect(world.runs).toMatchObject([{ status: 'completed', conclusion: 'success' }]);
  });

  test('is in progress again when the base moved, though another process gave it', async () => {
    const world = worldThatRequires();
    world.mishap = index => (index === 1 ? 'dies-after' : undefined);
    await expect(startProcess(world, words).land()).rejects.toThrow(Died);
    expect(world.runs).toMatchObject([{ status: 'completed' }]);
    world.branch = { sha: id('9'), tree: id('9') };
    expect(await startProcess(world, words).land()).toMatchObject({ kind: 'base-moved' });
    expect(world.runs).toMatchObject([{ status: 'in_progress', conclusion: null }]);
    expect(world.runs[0]?.output.title).toContain('Tested again');
  });

  test('as a status is pending again when the base moved', async () => {
    const world = openWorld();
    world.merge = refusing(405, required);
    const process = startProcess(world, { merge: true, status: 'success', comment: false });
    await process.land();
    world.branch = { sha: id('9'), tree: id('9') };
    await process.land();
    expect(world.statuses.map(({ state }) => state)).toEqual(['success', 'pending']);
  });

  test('is not touched when the base moved and it was never given', async () => {
    const world = openWorld();
    world.branch = { sha: id('9'), tree: id('9') };
    expect(await startProcess(world, words).land()).toMatchObject({ kind: 'base-moved' });
    expect(world.writes()).toEqual([]);
  });

  test('that GitHub has taken and not noticed yet is waited for, a few times', async () => {
    const world = openWorld();
    world.merge = refusing(405, required);
    const slow = startProcess(world, words);
    expect(await slow.land()).toMatchObject({ kind: 'later', notBefore: fromMilliseconds(1_002_000) });
    world.merge = () => MADE;
    expect(await slow.land()).toEqual(LANDED);

    world.merge = refusing(405, required);
    Object.assign(world.pull, { state: 'open', merged: false, mergedAs: null });
    world.branch = BASE;
    const never = startProcess(world, words);
    const outcomes: string[] = [];
    for (let tries = 0; tries < 6; tries++) outcomes.push((await never.land()).kind);
    expect(outcomes).toEqual([...Array.from({ length: 5 }, () => 'later'), 'refused']);
  });

  test('does not help where another one is missing', async () => {
    const world = openWorld();
    world.merge = refusing(405, '2 of 2 required status checks are expected.');
    expect(await startProcess(world, words).land()).toMatchObject({
      kind: 'refused',
      text: expect.stringContaining('required check is missing'),
    });
    expect(world.writes()).toEqual(['pulls/merge', 'checks/create', 'pulls/merge']);
  });
});

describe('a lost answer', () => {
  test('of a merge that was made is looked up', async () => {
    const world = openWorld();
    world.mishap = () => 'lost-done';
    expect(await startProcess(world).land()).toEqual(LANDED);
    expect(world.writes()).toEqual(['pulls/merge']);
  });

  test('of a merge that was not made is unsettled, and the next call merges', async () => {
    const world = openWorld();
    world.mishap = index => (index === 0 ? 'lost-undone' : undefined);
    const { land } = startProcess(world);
    await expect(land()).rejects.toMatchObject({ unsettled: true, retryable: true });
    expect(await land()).toEqual(LANDED);
  });

  test('of a merge that GitHub shows late is settled by what the branch holds', async () => {
    const world = openWorld();
    world.mishap = () => 'lost-done';
    world.stalePull = structuredClone(world.pull);
    expect(await startProcess(world).land()).toEqual(LANDED);
    expect(world.pull.merged).toBe(true);
  });

  test('of the read after a merge is unsettled, and nothing is merged twice', async () => {
    const world = openWorld();
    let reads = 0;
    world.answer = ({ operation }) =>
      operation === 'git/get-commit' && reads++ === 0
        ? { kind: 'later', later: { reason: 'timeout', text: 'no answer' } }
        : undefined;
    const { land } = startProcess(world);
    await expect(land()).rejects.toMatchObject({ unsettled: true, reason: 'timeout' });
    expect(await land()).toEqual(LANDED);
    expect(world.writes()).toEqual(['pulls/merge']);
  });
});

test('wherever the process dies, the next one ends in the same state', async () => {
  for (const mishap of ['dies-before', 'dies-after'] as const) {
    const world = openWorld();
    world.mishap = index => (index === 0 ? mishap : undefined);
    await expect(startProcess(world).land()).rejects.toThrow(Died);
    expect(await startProcess(world).land()).toEqual(LANDED);
    expect(await startProcess(world).landed()).toEqual(LANDED.kind === 'landed' ? LANDED.landed : []);
  }
});

test('a pull request that is merged, and whose commit GitHub does not show yet, is asked for again', async () => {
  const world = openWorld();
  Object.assign(world.pull, { state: 'closed', merged: true });
  expect(await startProcess(world).land()).toMatchObject({ kind: 'later', notBefore: expect.anything() });
  await expect(startProcess(world).landed()).rejects.toMatchObject({ retryable: true });
});

test('what has landed is asked, and nothing is written', async () => {
  const world = openWorld();
  expect(await startProcess(world).landed()).toEqual([]);
  world.answer = () => ({ kind: 'later', later: { reason: 'unreachable', text: 'reset' } });
  await expect(startProcess(world).landed()).rejects.toMatchObject({ retryable: true });
  expect(world.writes()).toEqual([]);
});

test('a pull request that GitHub does not show any more is asked for again: access to it was lost', async () => {
  const world = openWorld();
  const text = 'Resource not accessible by integration';
  world.answer = () => ({ kind: 'refused', status: 403, text, errors: [] });
  expect(await startProcess(world).land()).toMatchObject({ kind: 'later', reason: 'denied' });
  await expect(startProcess(world).landed()).rejects.toMatchObject({ retryable: true, reason: 'denied' });
});
