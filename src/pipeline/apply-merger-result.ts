/** A merger's answer to the request the buildset waits for; any other answer comes too late to matter. */
import type { Nanoseconds } from '../lib/clock.ts';
import type { MergerWork, TestedMerge } from '../model/build-set.ts';
import type { PipelineEvent } from '../model/event.ts';
import type { BranchHead, MergerOutcome } from '../model/merge.ts';
import type { QueueItem } from '../model/queue-item.ts';
import { ignoreResult } from './ignore-result.ts';
import { askMergerAgain, begin, complete, withStage } from './prepare-item.ts';
import type { TurnDraft } from './turn-draft.ts';

type MergerResult = Extract<PipelineEvent, { readonly kind: 'merger-result' }>;

export function applyMergerResult(draft: TurnDraft, event: MergerResult): void {
  const item = draft.item(event.item);
  if (item === undefined) return;
  const { stage } = item.buildset;
  const expected = stage.state === 'merging' || stage.state === 'repo-state' ? stage.request : null;
  if (item.buildset.uuid !== event.buildset || expected !== event.request) {
    ignoreResult(draft, item, event.uuid, `the merger's answer ${event.request} is not the one it waits for`);
    return;
  }
  draft.put(applied(draft, withAnswer(item, event, draft.input.now), event));
}

function applied(draft: TurnDraft, item: QueueItem, event: MergerResult): QueueItem {
  const { outcome } = event;
  const { stage } = item.buildset;
  if (stage.state === 'merging' && outcome.kind === 'merged') {
    const tested = { branches: outcome.branches, heads: outcome.heads };
    const merged = withStage(item, { state: 'merged', tested });
    return { ...merged, buildset: { ...merged.buildset, filesChanged: outcome.filesChanged } };
  }
  if (stage.state === 'merging' && outcome.kind === 'conflict') {
    const { change, project, files, with: other } = outcome;
    const conflict = { change, project, files, ...(other === undefined ? {} : { with: other }) };
    return complete(draft, { ...item, buildset: { ...item.buildset, conflict } }, 'MERGE_CONFLICT');
  }
  if (stage.state === 'repo-state' && outcome.kind === 'repo-state') {
    return begin(draft, item, withHeads(stage.tested, outcome.heads), stage.graph);
  }
  return retryOrFail(draft, item, event, outcome);
}

function retryOrFail(
  draft: TurnDraft,
  item: QueueItem,
  event: MergerResult,
  outcome: MergerOutcome,
): QueueItem {
  const again = outcome.kind === 'failed' && outcome.retryable ? askMergerAgain(draft, item) : undefined;
  if (again === undefined) return complete(draft, item, 'ERROR');
  const about = { change: item.changes[0], item: item.uuid, event: event.uuid };
  draft.decide('retry', about, `the merger is asked again after: ${textOf(outcome)}`);
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
  const done = answerOf(event.outcome, at);
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
    : `the merger answered something else than it was asked: ${outcome.kind}`;
}
