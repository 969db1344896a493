/** Landing by submit: what is asked before, what is decided by reading, and what a lost answer is worth. */
import { describe, expect, test } from 'vitest';
import { createGerritLanding } from '../../../../../drivers/gerrit/landing/gerrit-landing.ts';
import { createOwnAccount } from '../../../../../drivers/gerrit/reporting/own-account.ts';
import type { LandingOutcome } from '../../../../../src/driver/landing.ts';
import { fromMilliseconds } from '../../../../../src/lib/clock.ts';
import { type Change, refUpdateKey } from '../../../../../src/model/change.ts';
import type { Json } from '../../../../../src/model/job.ts';
import { parseCommitId } from '../../../../../src/model/project.ts';
import { sampleReport } from '../../../../fake/report.ts';
import {
  createReviewWorld,
  gerritApp,
  gerritChange,
  ProcessDied,
  type ReviewWorld,
} from '../review-world.ts';

const id = (digit: string) => digit.repeat(40);
const change = gerritChange();
const BASE = { commit: id('b'), tree: id('c') };
const MADE = { commit: id('e'), tree: id('f') };
const OTHER = { commit: id('9'), tree: id('8') };
const tested = {
  base: parseCommitId(BASE.commit),
  before: parseCommitId(BASE.commit),
  beforeTree: BASE.tree,
  commit: parseCommitId(id('d')),
  tree: MADE.tree,
};
const LANDED: LandingOutcome = {
  kind: 'landed',
  landed: [{ project: gerritApp, branch: 'main', commit: parseCommitId(MADE.commit), tree: MADE.tree }],
};

interface Process {
  land(mayAct?: () => boolean): Promise<LandingOutcome>;
  landed(): Promise<unknown>;
  readonly waits: readonly number[];
  readonly landing: ReturnType<typeof createGerritLanding>;
}

/** @param items all changes of the item. */
function startProcess(
  world: ReviewWorld,
  config: Json = { submit: true, Verified: 2 },
  items: readonly Change[] = [change],
  own = change,
): Process {
  const waits: number[] = [];
  const trees = new Map([BASE, MADE, OTHER].map(({ commit, tree }) => [commit, tree]));
  const landing = createGerritLanding({
    api: world.api,
    log: { debug() {}, info() {}, warn() {} },
    clock: { now: () => fromMilliseconds(1_000_000) },
    ourselves: createOwnAccount(world.api),
    git: {
      remoteOf: async () => ({ url: 'https://gerrit.example.org/acme/app' }),
      open: async () => ({
        fetch: async (_, wants) => ({ kind: 'fetched', commits: wants.map(({ commit }) => commit) }),
        isAncestor: async () => false,
        reader: { commit: async (commit: string) => ({ tree: trees.get(commit) }) } as never,
      }),
    },
    wait: async ms => void waits.push(ms),
  });
  const report = sampleReport({ changes: items });
  const signal = AbortSignal.timeout(20_000);
  return {
    land: (mayAct = () => true) => landing.land({ config, change: own, tested, report }, signal, mayAct),
    landed: () => landing.landed({ config, change: own, tested }, signal),
    waits,
    landing,
  };
}

function openWorld(numbers?: readonly number[]): ReviewWorld {
  const world = createReviewWorld(numbers);
  world.branch = BASE;
  world.submit = () => MADE;
  return world;
}

describe('a submit', () => {
  test('comes after our votes, and is decided by reading, not by its answer that says NEW', async () => {
    const world = openWorld();
    world.submit = ({ votes }) =>
      votes.get('Verified') === 2 ? MADE : { status: 409, text: 'needs Verified' };
    expect(await startProcess(world).land()).toEqual(LANDED);
    expect(world.requests.map(({ operation }) => operation)).toEqual([
      ...['changes/detail', 'projects/branch', 'changes/submitted-together'],
      ...['accounts/self', 'changes/review', 'changes/submit', 'changes/detail', 'projects/branch'],
    ]);
    const [, submit] = world.requests.filter(({ isWrite }) => isWrite);
    expect(submit).toMatchObject({ path: `changes/12/revisions/${change.commit}/submit`, body: {} });
    // The message that it succeeded comes after the landing, with the report.
    expect(world.changeOf().messages.map(({ message }) => message)).toEqual(['Patch Set 1: Verified+2']);
  });

  test('that made another tree lands as what the branch holds: the caller compares', async () => {
    const world = openWorld();
    world.submit = () => OTHER;
    expect(await startProcess(world).land()).toMatchObject({ landed: [{ tree: OTHER.tree }] });
  });

  test('is made on another commit with the same tree', async () => {
    const world = openWorld();
    world.branch = OTHER;
    const process = startProcess(world);
    const { landing } = process;
    const same = { ...tested, beforeTree: OTHER.tree };
    const request = {
      config: { submit: true },
      change,
      tested: same,
      report: sampleReport({ changes: [change] }),
    };
    expect(await landing.land(request, AbortSignal.timeout(20_000), () => true)).toEqual(LANDED);
  });

  test('is not sent when branch or change is not what was tested', async () => {
    const cases: readonly (readonly [(world: ReviewWorld) => void, LandingOutcome['kind'], string])[] = [
      [world => Object.assign(world, { branch: OTHER }), 'base-moved', 'another tree'],
      [world => Object.assign(world, { branch: null }), 'refused', 'branch main is gone'],
      [world => Object.assign(world.changeOf(), { current_revision: id('7') }), 'refused', 'is 77777777'],
      [world => Object.assign(world.changeOf(), { branch: 'stable' }), 'refused', 'for stable now'],
      [world => Object.assign(world.changeOf(), { status: 'ABANDONED' }), 'refused', 'abandoned'],
      [world => Object.assign(world.changeOf(), { work_in_progress: true }), 'refused', 'work in progress'],
      [world => world.changes.clear(), 'refused', 'hidden from our account'],
      [world => Object.assign(world, { hidden: 2 }), 'refused', 'may not see'],
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
    expect(world.changeOf().status).toBe('NEW');
  });

  test('of a ref update, or of nothing tested, is refused', async () => {
    const { landing } = startProcess(openWorld());
    const signal = AbortSignal.timeout(20_000);
    const ref = 'refs/heads/main';
    const update = { kind: 'ref', key: refUpdateKey(gerritApp, ref, null), project: gerritApp, ref } as const;
    const moved = { ...update, oldCommit: null, newCommit: null };
    expect(await landing.land({ config: {}, change: moved, tested }, signal, () => true)).toMatchObject({
      kind: 'refused',
    });
    expect(await landing.land({ config: {}, change }, signal, () => true)).toMatchObject({ kind: 'refused' });
    expect(await landing.landed({ config: {}, change: moved, tested }, signal)).toEqual([]);
  });
});

describe('a change that is merged', () => {
  test('already has landed, and nothing is written', async () => {
    const world = openWorld();
    world.changeOf().status = 'MERGED';
    world.branch = MADE;
    const process = startProcess(world);
    expect(await process.land()).toEqual(LANDED);
    expect(await process.landed()).toEqual(LANDED.kind === 'landed' ? LANDED.landed : []);
    expect(world.writes()).toEqual([]);
  });

  test('not yet, has not landed', async () => {
    expect(await startProcess(openWorld()).landed()).toEqual([]);
  });

  test('a moment later is waited for, without end it is not known', async () => {
    const world = openWorld();
    let behind = 2;
    world.answer = ({ operation }) => {
      if (operation !== 'changes/detail' || world.changeOf().status !== 'MERGED' || behind-- <= 0)
        return undefined;
      return {
        kind: 'ok',
        status: 200,
        data: { status: 'NEW', branch: 'main', current_revision: change.commit },
      };
    };
    const process = startProcess(world);
    expect(await process.land()).toEqual(LANDED);
    expect(process.waits).toEqual([100, 400]);
    behind = 100;
    await expect(startProcess(world).land()).rejects.toMatchObject({ unsettled: true });
  });
});

describe('a lost answer to a submit', () => {
  test.each(['lost-done', 'dies-after'] as const)('that was done is found (%s)', async mishap => {
    const world = openWorld();
    world.mishap = index => (index === 1 ? mishap : undefined);
    const first = startProcess(world).land();
    if (mishap === 'dies-after') await expect(first).rejects.toThrow(ProcessDied);
    else expect(await first).toEqual(LANDED);
    expect(await startProcess(world).land()).toEqual(LANDED);
    expect(world.writes()).toEqual(['changes/review', 'changes/submit']);
  });

  test('that was not done is not known, and it is submitted again', async () => {
    const world = openWorld();
    world.mishap = index => (index === 1 ? 'lost-undone' : undefined);
    await expect(startProcess(world).land()).rejects.toMatchObject({
      unsettled: true,
      reason: 'unreachable',
    });
    expect(await startProcess(world).land()).toEqual(LANDED);
    // The vote is there.
    expect(world.writes()).toEqual(['changes/review', 'changes/submit', 'changes/submit']);
  });
});

describe('a submit that Gerrit refuses', () => {
  test('is refused with its words, and our vote is as it was before', async () => {
    const world = openWorld();
    world.changeOf().votes.set('Verified', 1);
    world.submit = () => ({
      status: 409,
      text: 'Failed to submit 1 change due to the following problems:\nChange 12: needs Workflow\n',
    });
    expect(await startProcess(world).land()).toEqual({
      kind: 'refused',
      text: 'Gerrit did not submit it: needs Workflow',
    });
    expect(world.changeOf().votes.get('Verified')).toBe(1);
  });

  test('says which of our votes is missing', async () => {
    const world = openWorld();
    world.labels.set('Verified', { min: -1, max: 1 });
    world.submit = () => ({ status: 409, text: 'Change 12: needs Verified' });
    expect(await startProcess(world).land()).toMatchObject({
      kind: 'refused',
      text: expect.stringMatching(/needs Verified; Gerrit did not take our vote Verified \+2 \(.*restricted/),
    });
  });

  test('because the branch moved is tested again, and our vote is taken back', async () => {
    const world = openWorld();
    world.submit = () => {
      world.branch = OTHER;
      return { status: 409, text: 'Change 12: Change could not be merged due to a path conflict.' };
    };
    expect(await startProcess(world).land()).toMatchObject({ kind: 'base-moved' });
    expect(world.changeOf().votes.get('Verified')).toBe(0);
  });

  test('because it is at work on the change is sent again in a moment', async () => {
    const world = openWorld();
    world.submit = () => ({ status: 409, text: 'LOCK_FAILURE' });
    const { land } = startProcess(world);
    expect(await land()).toMatchObject({
      kind: 'later',
      reason: 'locked',
      notBefore: fromMilliseconds(1_002_000),
    });
    world.submit = () => MADE;
    expect(await land()).toEqual(LANDED);
  });

  test('because another process was first has landed', async () => {
    const world = openWorld();
    world.submit = first => {
      first.status = 'MERGED';
      world.branch = MADE;
      return { status: 409, text: 'change is merged' };
    };
    expect(await startProcess(world).land()).toEqual(LANDED);
  });
});

describe('changes that are submitted together', () => {
  const partner = gerritChange(13);

  test('are refused when the item has not all of them', async () => {
    const world = openWorld([12, 13]);
    world.together = [12, 13];
    expect(await startProcess(world).land()).toMatchObject({
      kind: 'refused',
      text: expect.stringContaining('submit change 13 of acme/app with it'),
    });
    expect(world.writes()).toEqual([]);
  });

  test('get our votes first when they are of one item', async () => {
    const world = openWorld([12, 13]);
    world.together = [12, 13];
    world.submit = () => {
      const partnerNow = world.changeOf(13);
      if (partnerNow.votes.get('Verified') !== 2) return { status: 409, text: 'Change 13: needs Verified' };
      partnerNow.status = 'MERGED';
      return MADE;
    };
    expect(await startProcess(world, undefined, [change, partner]).land()).toEqual(LANDED);
    expect(await startProcess(world, undefined, [change, partner], partner).land()).toEqual(LANDED);
    expect(world.writes()).toEqual(['changes/review', 'changes/review', 'changes/submit']);
  });

  test('one by one, land on what the one before has made of the branch', async () => {
    const world = openWorld([12, 13]);
    world.changeOf(12).status = 'MERGED';
    world.branch = OTHER;
    expect(await startProcess(world, undefined, [change, partner], partner).land()).toEqual(LANDED);
  });
});

describe('a Gerrit that does not serve', () => {
  test('is asked later, with what it said', async () => {
    const later = { reason: 'limited', text: '429' } as const;
    for (const operation of [
      'changes/detail',
      'projects/branch',
      'changes/submitted-together',
      'changes/submit',
    ]) {
      const world = openWorld();
      world.answer = asked => (asked.operation === operation ? { kind: 'later', later } : undefined);
      expect(await startProcess(world).land()).toEqual({ kind: 'later', ...later });
    }
  });

  test('or does not show the project, says nothing about the change', async () => {
    const world = openWorld();
    world.changes.clear();
    world.branch = null;
    expect(await startProcess(world).land()).toMatchObject({ kind: 'later', reason: 'denied' });
  });
});
