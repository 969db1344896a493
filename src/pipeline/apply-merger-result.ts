/** A merger's answer to the request the buildset waits for; any other answer comes too late to matter. */
import type { Nanoseconds } from '../lib/clock.ts';
import { aboutItem } from '../model/about-item.ts';
import type { MergerWork, TestedMerge } from '../model/build-set.ts';
import { sameRevision } from '../model/change.ts';
import type { PipelineEvent } from '../model/event.ts';
import type { HostTrouble } from '../model/host-trouble.ts';
import type { BranchHead, MergerOutcome } from '../model/merge.ts';
import type { QueueItem } from '../model/queue-item.ts';
import { chainAnswerOf, conflictOf, type ServedMerge } from './chain-answer.ts';
import { hostServed, waitForHost, withoutWait } from './host-wait.ts';
import { isShared } from './parked-projects.ts';
import { askMergerAgain, askWhenHostServes, begin, complete, withStage } from './prepare-item.ts';
import type { TurnDraft } from './turn-draft.ts';

type MergerResult = Extract<PipelineEvent, { readonly kind: 'merger-result' }>;

/** The buildset gets its merge or its conflict, waits for the host, asks again, or ends with `ERROR`. */
export function applyMergerResult(draft: TurnDraft, event: MergerResult): void {
  const item = draft.item(event.item);
  if (item === undefined) return;
  const { stage } = item.buildset;
  const expected = stage.state === 'merging' || stage.state === 'repo-state' ? stage.request : null;
  if (item.buildset.uuid !== event.buildset || expected !== event.request) {
    draft.ignore({
      item: item.uuid,
      event: event.uuid,
      text: `the item does not wait for merger request ${event.request}`,
    });
    return;
  }
  draft.put(applied(draft, withAnswer(item, event, draft.input.now), event));
}

function applied(draft: TurnDraft, item: QueueItem, event: MergerResult): QueueItem {
  const { outcome } = event;
  if (outcome.kind === 'failed' && outcome.trouble !== undefined)
    return hostTrouble(draft, item, event, outcome.trouble);
  return judged(draft, served(draft, item, outcome), event);
}

/** Any answer but a failure means that the host served. */
function served(draft: TurnDraft, item: QueueItem, outcome: MergerOutcome): QueueItem {
  if (outcome.kind === 'failed') return item;
  const seen = outcome.kind === 'merged' ? [...outcome.branches, ...outcome.heads] : [];
  const projects = new Set([...item.changes, ...seen].map(({ project }) => project));
  const known = item.hostWait?.doing === 'merge' ? withoutWait(draft, item) : item;
  draft.put(known);
  hostServed(draft, 'merge', projects);
  return known;
}

function judged(draft: TurnDraft, item: QueueItem, event: MergerResult): QueueItem {
  const { outcome } = event;
  const { stage } = item.buildset;
  if (stage.state === 'merging' && (outcome.kind === 'merged' || outcome.kind === 'conflict')) {
    const answer = chainAnswerOf(uuid => draft.item(uuid), item, stage, outcome);
    if (answer !== null) draft.noteAnswer(item.uuid, answer);
    return answer?.unfinished === true ? withStage(item, { state: 'new' }) : merged(draft, item, outcome);
  }
  if (stage.state === 'repo-state' && outcome.kind === 'repo-state') {
    return begin(draft, item, withHeads(stage.tested, outcome.heads), stage.graph);
  }
  return retryOrFail(draft, item, event, outcome);
}

/** The merger's answer; the pass determines whether it holds for the present chain (past-conflicts.ts). */
function merged(draft: TurnDraft, item: QueueItem, outcome: ServedMerge): QueueItem {
  if (outcome.kind === 'conflict') {
    const conflict = conflictOf(outcome);
    return complete(draft, { ...item, buildset: { ...item.buildset, conflict } }, 'MERGE_CONFLICT');
  }
  const { branches, heads, landed } = outcome;
  const tested = { branches, heads, ...(landed === undefined ? {} : { landed }) };
  const done = withStage(item, { state: 'merged', tested });
  return { ...done, buildset: { ...done.buildset, filesChanged: outcome.filesChanged } };
}

/** No verdict, unless the missing commit is missing for good. */
function hostTrouble(
  draft: TurnDraft,
  item: QueueItem,
  event: MergerResult,
  trouble: HostTrouble,
): QueueItem {
  const failures = item.hostWait?.reason === trouble.reason ? item.hostWait.tries : 0;
  if (!isShared(trouble) && failures >= MOST_TRIES && !isOpenAt(draft, trouble))
    return complete(draft, withoutWait(draft, item), 'ERROR');
  return waitForHost(draft, askWhenHostServes(item), 'merge', trouble, event.uuid);
}

/** Tries for a commit that the host does not have and that is of no known open change, or that is too large. */
const MOST_TRIES = 3;

/** A known open change is at that commit: then replicas lag, or the host is being polled. */
function isOpenAt(draft: TurnDraft, { commit }: HostTrouble): boolean {
  for (const item of draft.items()) {
    for (const change of item.changes) {
      if (change.kind !== 'change' || change.commit !== commit) continue;
      const record = draft.facts(change.key)?.record;
      if (record?.status === 'open' && sameRevision(record.change, change)) return true;
    }
  }
  return false;
}

function retryOrFail(
  draft: TurnDraft,
  item: QueueItem,
  event: MergerResult,
  outcome: MergerOutcome,
): QueueItem {
  const again = outcome.kind === 'failed' && outcome.retryable ? askMergerAgain(draft, item) : undefined;
  if (again === undefined) return complete(draft, item, 'ERROR');
  const about = aboutItem(item, event.uuid);
  draft.decide('retry', about, `the merger is asked again: ${textOf(outcome)}`);
  return again;
}

/** Heads known from the merge stay as they are: one buildset, one state. */
function withHeads(tested: TestedMerge, heads: readonly BranchHead[]): TestedMerge {
  const known = new Set(tested.heads.map(head => `${head.project}@${head.branch}`));
  return {
    ...tested,
    heads: [...tested.heads, ...heads.filter(head => !known.has(`${head.project}@${head.branch}`))],
  };
}

function withAnswer(item: QueueItem, event: MergerResult, at: Nanoseconds): QueueItem {
  const { buildset } = item;
  const { losses = [] } = event;
  const done = { ...answerOf(event.outcome, at), ...(losses.length === 0 ? {} : { losses }) };
  const mergerWork = buildset.mergerWork.map(work =>
    work.request === event.request ? { ...work, done } : work,
  );
  return { ...item, buildset: { ...buildset, mergerWork } };
}

function answerOf(outcome: MergerOutcome, at: Nanoseconds): NonNullable<MergerWork['done']> {
  const { worker, steps } = outcome;
  switch (outcome.kind) {
    case 'merged':
    case 'conflict':
    case 'repo-state':
      return { at, outcome: outcome.kind, worker, steps };
    default:
      return { at, outcome: 'failed', worker, steps, text: textOf(outcome) };
  }
}

function textOf(outcome: MergerOutcome): string {
  return outcome.kind === 'failed'
    ? outcome.text
    : `internal error: unexpected answer of the merger: ${outcome.kind}`;
}
