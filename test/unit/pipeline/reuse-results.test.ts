import { describe, expect, it } from 'vitest';
import { addMilliseconds, parseNanoseconds } from '../../../src/lib/clock.ts';
import { derivedUuid } from '../../../src/lib/ids.ts';
import type { FrozenGraph, TestedMerge } from '../../../src/model/build-set.ts';
import { type RefUpdate, refUpdateKey } from '../../../src/model/change.ts';
import { EMPTY_PIPELINE, type PipelineState } from '../../../src/model/pipeline-state.ts';
import { parseCommitId, projectKey } from '../../../src/model/project.ts';
import type { QueueItem } from '../../../src/model/queue-item.ts';
import { forgetResult, rememberResult, reuseResult } from '../../../src/pipeline/reuse-results.ts';
import { TurnDraft } from '../../../src/pipeline/turn-draft.ts';
import { gatePipeline } from '../../fake/pipeline.ts';
import { emptyBuildSet, emptyJobNode, emptyQueueItem } from '../../fake/records.ts';

const START = parseNanoseconds('1795000000000000000');
const HOUR = 3_600_000;
const APP = projectKey({ connection: 'github', name: 'acme/app' });
const LIBRARY = projectKey({ connection: 'github', name: 'acme/library' });
const GRAPH: FrozenGraph = { blob: 'a'.repeat(64), jobs: [emptyJobNode('unit')] };

const commit = (name: string) => parseCommitId(derivedUuid(name).padEnd(40, '7'));
const heads = (library: string): TestedMerge => ({
  branches: [],
  heads: [
    { project: APP, branch: 'main', commit: commit('differs with each group') },
    { project: LIBRARY, branch: 'main', commit: commit(library) },
  ],
});

/** Of a group of a config-project. */
const landed = (tip: string): TestedMerge => ({
  ...heads('library'),
  landed: [{ project: APP, branch: 'main', commit: commit(tip) }],
});

/** A merge group under test. @param name makes commit and ref */
function group(
  name: string,
  parts: Partial<RefUpdate> = {},
  tested = heads('library'),
  graph = GRAPH,
): QueueItem {
  const ref = `refs/heads/gh-readonly-queue/main/pr-${name}`;
  const change: RefUpdate = {
    kind: 'ref',
    key: refUpdateKey(APP, ref, commit(name)),
    project: APP,
    ref,
    targetBranch: 'main',
    oldCommit: commit('base'),
    newCommit: commit(name),
    tree: commit('tree'),
    ...parts,
  };
  const buildset = emptyBuildSet(derivedUuid(name, 'buildset'), 1, START, null);
  return emptyQueueItem(
    {
      uuid: derivedUuid(name),
      changes: [change],
      enqueuedAt: START,
      buildset: { ...buildset, stage: { state: 'running', tested, graph } },
      timeline: [{ state: 'running', since: START }],
    },
    { event: derivedUuid('event'), tenantEvent: derivedUuid('tenant event'), receivedAt: START },
  );
}

interface Turn {
  readonly state?: PipelineState;
  readonly hours?: number;
  readonly reuses?: boolean;
}

function turn({ state = EMPTY_PIPELINE, hours = 0, reuses = true }: Turn = {}): TurnDraft {
  return new TurnDraft({
    now: addMilliseconds(START, hours * HOUR),
    tenant: 'acme',
    pipeline: gatePipeline({ manager: 'independent', ...(reuses ? { reuseResults: true } : {}) }),
    state,
    events: [],
    changes: new Map(),
    frozen: new Map(),
    ids: { uuid: () => derivedUuid('id') },
  });
}

/** The state after a turn in which these groups ended. */
function stateAfter(...results: readonly (readonly [QueueItem, 'SUCCESS' | 'FAILURE'])[]): PipelineState {
  const draft = turn();
  for (const [item, result] of results) rememberResult(draft, item, result);
  return draft.finish().state;
}

function reused(draft: TurnDraft, item: QueueItem): QueueItem | undefined {
  const { stage } = item.buildset;
  if (stage.state !== 'running') throw new Error('the group is not under test');
  return reuseResult(draft, item, stage.tested, stage.graph);
}

const known = stateAfter([group('one'), 'SUCCESS']);

describe('a merge group', () => {
  it('in the state of one that succeeded is complete at once, and names it', () => {
    const draft = turn({ state: known, hours: 23 });
    expect(reused(draft, group('two'))?.buildset.stage).toMatchObject({
      state: 'complete',
      result: 'SUCCESS',
      graph: null,
      testedBefore: { item: derivedUuid('one'), buildset: derivedUuid('one', 'buildset') },
    });
    expect(draft.finish().decisions).toMatchObject([{ code: 'tested-before', item: derivedUuid('two') }]);
  });

  it.each([
    ['another tree', group('two', { tree: commit('other') })],
    ['a tree that was not read', withoutTree(group('two'))],
    ['another branch to land on', group('two', { targetBranch: 'stable' })],
    ['another project', group('two', { project: LIBRARY })],
    ['other jobs', group('two', {}, heads('library'), { ...GRAPH, blob: 'b'.repeat(64) })],
    ['another head of a project that jobs use', group('two', {}, heads('library moved'))],
    ['another commit that trusted playbooks come from', group('two', {}, landed('moved'))],
    ['an item ahead', { ...group('two'), behind: derivedUuid('ahead') }],
  ])('with %s is tested', (_, item) => {
    expect(reused(turn({ state: known }), item)).toBeUndefined();
  });

  it('is tested when that is a day ago', () => {
    expect(reused(turn({ state: known, hours: 24 }), group('two'))).toBeUndefined();
  });

  it.each([
    ['failed', stateAfter([group('one'), 'FAILURE'])],
    ['failed after it had succeeded', stateAfter([group('one'), 'SUCCESS'], [group('two'), 'FAILURE'])],
  ])('is tested when the last in its state %s', (_, state) => {
    expect(state.testedStates ?? []).toEqual([]);
    expect(reused(turn({ state }), group('three'))).toBeUndefined();
  });

  it('is tested as soon as a job of another in its state has failed', () => {
    const draft = turn({ state: known });
    forgetResult(draft, group('two'));
    expect(reused(draft, group('three'))).toBeUndefined();
    expect(draft.finish().state).not.toHaveProperty('testedStates');
  });

  it('that was answered so is not remembered itself', () => {
    const draft = turn({ state: known });
    reused(draft, group('two'));
    expect(draft.finish().state).toBe(known);
  });
});

describe('the memory of tested states', () => {
  it('holds the 32 newest', () => {
    const items = Array.from({ length: 40 }, (_, at) => group(`g${at}`, { tree: commit(`tree ${at}`) }));
    const { testedStates = [] } = stateAfter(...items.map(item => [item, 'SUCCESS'] as const));
    expect(testedStates.map(({ item }) => item)).toEqual(items.slice(8).map(({ uuid }) => uuid));
    expect(JSON.stringify(testedStates).length).toBeLessThan(32 * 256);
  });

  it('is not kept for a pipeline that does not ask, and dropped when it asks no more', () => {
    const asksNot = turn({ reuses: false });
    rememberResult(asksNot, group('one'), 'SUCCESS');
    expect(asksNot.finish().state).toBe(EMPTY_PIPELINE);
    const asksNoMore = turn({ state: known, reuses: false });
    expect(reused(asksNoMore, group('two'))).toBeUndefined();
    expect(asksNoMore.finish().state).not.toHaveProperty('testedStates');
  });

  it('has nothing of a push to a branch', () => {
    const { targetBranch: _, ...push } = group('one').changes[0] as RefUpdate;
    const item: QueueItem = { ...group('one'), changes: [{ ...push, branch: 'main' }] };
    expect(stateAfter([item, 'SUCCESS'])).toBe(EMPTY_PIPELINE);
  });
});

function withoutTree(item: QueueItem): QueueItem {
  const { tree: _, ...change } = item.changes[0] as RefUpdate;
  return { ...item, changes: [change] };
}
