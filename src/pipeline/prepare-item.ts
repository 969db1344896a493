/**
 * From `new` to `running`: merge → freeze → heads of other projects. Each function moves the buildset one stage on; the
 * diagram is in `src/model/build-set.ts`.
 *
 *     startMerge        new, merged → merging    inside the window, unless its code host is in trouble; again when the answer came outside
 *     askAgain          merged, complete → new    the answer was about another chain than the present one
 *     askMergerAgain    merging, repo-state      the merger could not, at most MERGER_RETRIES times
 *     applyFreeze       merged → running | repo-state | complete
 *     begin             → running | complete     start report, once per item; complete where the same state was tested before
 */
import type { Uuid } from '../lib/ids.ts';
import { leadChange } from '../model/about-item.ts';
import {
  type BuildSetStage,
  type FrozenGraph,
  graphOf,
  type MergerWork,
  type TestedMerge,
  testedMergeOf,
} from '../model/build-set.ts';
import type { QueueItem } from '../model/queue-item.ts';
import type { BuildSetResult } from '../model/results.ts';
import { mayAskHost } from './host-wait.ts';
import { reportOnce } from './request-report.ts';
import { reuseResult } from './reuse-results.ts';
import { withdrawRequest } from './stop-work.ts';
import { withEvent } from './timeline.ts';
import type { FreezeFact } from './turn.ts';
import type { TurnDraft } from './turn-draft.ts';

/** Retries of a merge in the same buildset, after temporary failures. */
const MERGER_RETRIES = 3;

/** The item with its buildset in another stage; the transitions are those of `src/model/build-set.ts`. */
export function withStage(item: QueueItem, stage: BuildSetStage): QueueItem {
  return { ...item, buildset: { ...item.buildset, stage } };
}

/** Ends the buildset with a result, and keeps the merge and the job graph it got to. */
export function complete(draft: TurnDraft, item: QueueItem, result: BuildSetResult): QueueItem {
  const { buildset } = item;
  return withStage(item, {
    state: 'complete',
    at: draft.input.now,
    result,
    tested: testedMergeOf(buildset),
    graph: graphOf(buildset),
  });
}

/** The next step of an item inside the window that has no jobs running yet. */
export function prepareItem(draft: TurnDraft, item: QueueItem): QueueItem {
  const { stage } = item.buildset;
  if (stage.state === 'new') return mergeWhenServed(draft, item);
  if (stage.state !== 'merged') return item;
  const fact = draft.input.frozen.get(item.buildset.uuid);
  if (fact !== undefined) return applyFreeze(draft, item, stage.tested, fact);
  // It was outside the window when the merger answered; the freeze needs that answer, which is gone.
  if (!isAnsweredNow(draft, item)) return mergeWhenServed(draft, item);
  draft.need({
    kind: 'freeze',
    item: item.uuid,
    buildset: item.buildset.uuid,
    project: leadChange(item).project,
  });
  return item;
}

function mergeWhenServed(draft: TurnDraft, item: QueueItem): QueueItem {
  return mayAskHost(draft, item, 'merge') ? startMerge(draft, item) : item;
}

function isAnsweredNow(draft: TurnDraft, item: QueueItem): boolean {
  return draft.input.events.some(
    event => event.kind === 'merger-result' && event.buildset === item.buildset.uuid,
  );
}

function startMerge(draft: TurnDraft, item: QueueItem): QueueItem {
  const waited = draft.isKnown(item.uuid) && item.timeline.at(-1)?.state === 'window';
  const entered = waited
    ? withEvent(item, {
        at: draft.input.now,
        name: 'window-entered',
        facts: { buildset: item.buildset.uuid, window: windowOf(draft, item) },
      })
    : item;
  return requestMerge(draft, entered);
}

/** Of its queue, as it is now; 0: no limit. */
function windowOf(draft: TurnDraft, item: QueueItem): number {
  return draft.queues.get(item.queue)?.window ?? 0;
}

function requestMerge(draft: TurnDraft, item: QueueItem): QueueItem {
  const request = draft.input.ids.uuid();
  draft.command({ kind: 'request-merge', request, item: item.uuid, buildset: item.buildset.uuid });
  const below = item.behind === null ? undefined : draft.item(item.behind);
  const asked = withStage(withWork(draft, item, request, 'merge'), {
    state: 'merging',
    request,
    ...itemsAhead(draft, item),
  });
  return { ...asked, buildset: { ...asked.buildset, stackedOn: below?.buildset.uuid ?? null } };
}

/** None where it depends on items ahead: then a conflict there is its own. */
function itemsAhead(draft: TurnDraft, item: QueueItem): { readonly ahead?: readonly Uuid[] } {
  const ahead: Uuid[] = [];
  for (let at = item.behind; at !== null; ) {
    const below = draft.item(at);
    if (below === undefined) break;
    if (below.role === 'dependency') return {};
    ahead.push(at);
    at = below.behind;
  }
  return { ahead: ahead.reverse() };
}

function withWork(draft: TurnDraft, item: QueueItem, request: Uuid, kind: MergerWork['kind']): QueueItem {
  const work: MergerWork = { request, kind, requestedAt: draft.input.now, done: null };
  return { ...item, buildset: { ...item.buildset, mergerWork: [...item.buildset.mergerWork, work] } };
}

/**
 * The merger failed for a temporary reason.
 *
 * A repo-state restarts with the merge, which is cached: the freeze determines which heads are missing, and the freeze needs the
 * merge's answer.
 *
 * @returns undefined when it was asked often enough.
 */
export function askMergerAgain(draft: TurnDraft, item: QueueItem): QueueItem | undefined {
  const { stage, mergerWork } = item.buildset;
  const kind = stage.state === 'repo-state' ? 'repo-state' : 'merge';
  const failures = mergerWork.filter(entry => entry.kind === kind && entry.done?.outcome === 'failed');
  if (failures.length > MERGER_RETRIES) return undefined;
  return requestMerge(draft, item);
}

/** The host could not serve the request: it is retried, from the merge on. */
export function askWhenHostServes(item: QueueItem): QueueItem {
  return withStage(item, { state: 'new' });
}

/** The merger's answer is about a different chain: it counts as withdrawn, and the merge is requested again. */
export function askAgain(item: QueueItem): QueueItem {
  const { mergerWork } = item.buildset;
  const outdated = mergerWork.map((work, at) =>
    at === mergerWork.length - 1 && work.done !== null
      ? { ...work, done: { ...work.done, outcome: 'withdrawn' as const } }
      : work,
  );
  return withStage(
    { ...item, buildset: { ...item.buildset, mergerWork: outdated, conflict: null, filesChanged: [] } },
    { state: 'new' },
  );
}

/**
 * An item below has landed while the merge is computed. The answer does not show whether it began at the present branches, so the
 * merge is requested again, on top of them.
 */
export function mergeOnLanded(draft: TurnDraft, item: QueueItem): QueueItem {
  if (item.buildset.stage.state !== 'merging') return item;
  const mergerWork = withdrawRequest(draft, item.buildset, draft.input.now);
  return requestMerge(draft, { ...item, buildset: { ...item.buildset, mergerWork } });
}

function applyFreeze(draft: TurnDraft, item: QueueItem, tested: TestedMerge, fact: FreezeFact): QueueItem {
  const frozen: QueueItem = {
    ...item,
    buildset: {
      ...item.buildset,
      turnWork: [...item.buildset.turnWork, ...fact.work],
      ...(fact.kind === 'frozen' && fact.verdicts !== undefined ? { verdicts: fact.verdicts } : {}),
    },
  };
  if (fact.kind === 'not-in-pipeline') return complete(draft, frozen, 'NO_JOBS');
  if (fact.kind === 'misconfigured') {
    const misconfigured = { ...frozen, buildset: { ...frozen.buildset, configErrors: fact.errors } };
    return complete(draft, misconfigured, 'CONFIG_ERROR');
  }
  const graph = { blob: fact.blob, jobs: fact.jobs };
  if (fact.jobs.length === 0) {
    return withStage(frozen, { state: 'complete', at: draft.input.now, result: 'NO_JOBS', tested, graph });
  }
  if (fact.missingStates.length === 0) return begin(draft, frozen, tested, graph);
  const request = draft.input.ids.uuid();
  draft.command({
    kind: 'request-repo-state',
    request,
    item: item.uuid,
    buildset: item.buildset.uuid,
    states: fact.missingStates,
  });
  return withStage(withWork(draft, frozen, request, 'repo-state'), {
    state: 'repo-state',
    tested,
    graph,
    request,
  });
}

/** Jobs may start, unless the same state was tested before. The start is reported once per item, even when it is tested again. */
export function begin(draft: TurnDraft, item: QueueItem, tested: TestedMerge, graph: FrozenGraph): QueueItem {
  const answered = reuseResult(draft, item, tested, graph);
  if (answered !== undefined) return answered;
  const running = withStage(item, { state: 'running', tested, graph });
  return item.startReported ? running : { ...reportOnce(draft, running, 'start', null), startReported: true };
}
