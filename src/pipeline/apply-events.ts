/**
 * One function per kind of event: its facts become part of the item's record. Moves, resets, new jobs and reports follow in the
 * pass (`decide-turn.ts`).
 *
 * Events may come twice, late or for things that are gone: then they change nothing, and the debug log has them
 * (`TurnOutput.ignored`). One of them is a decision, `result-ignored`: a job that ended after its build was cancelled.
 */
import { assertNever } from '../lib/assert-never.ts';
import { aboutItem } from '../model/about-item.ts';
import type { PipelineEvent } from '../model/event.ts';
import { applyBuildFailing, applyBuildResult, applyBuildStarted } from './apply-build-events.ts';
import { applyMergerResult } from './apply-merger-result.ts';
import { applyNodesGranted, applyNodesReturned, applyNodesWanted } from './apply-node-events.ts';
import { applyReportResult } from './apply-report-result.ts';
import { applyBuildPaused } from './build-pauses.ts';
import { sweepDepartures } from './departures.ts';
import { enqueueEvent, enterAgain } from './enqueue.ts';
import { applyHalt } from './halts.ts';
import { leaveEarly } from './leave-item.ts';
import { dropOvertaken } from './overtake.ts';
import { applyPromote } from './promote.ts';
import { operator, supercedingItem } from './remover.ts';
import { requeueMoved } from './requeue.ts';
import { applyRerun } from './rerun.ts';
import { withEvent } from './timeline.ts';
import type { TurnDraft } from './turn-draft.ts';

/** Applies all events of the turn, in the order of the queue, before any pass. */
export function applyEvents(draft: TurnDraft): void {
  requeueMoved(draft);
  dropOvertaken(draft);
  sweep(draft);
  for (const event of draft.input.events) applyEvent(draft, event);
  // Again, for the queues that waited for a report.
  requeueMoved(draft);
  dropOvertaken(draft);
  sweep(draft);
}

function sweep(draft: TurnDraft): void {
  for (const item of sweepDepartures(draft)) enterAgain(draft, item);
}

function applyEvent(draft: TurnDraft, event: PipelineEvent): void {
  switch (event.kind) {
    case 'enqueue':
      sweep(draft);
      enqueueEvent(draft, event);
      dropOvertaken(draft);
      return;
    case 'change-updated':
      return; // every turn reads the facts
    case 'merger-result':
      applyMergerResult(draft, event);
      return;
    case 'nodes-wanted':
      applyNodesWanted(draft, event);
      return;
    case 'nodes-granted':
      applyNodesGranted(draft, event);
      return;
    case 'nodes-returned':
      applyNodesReturned(draft, event);
      return;
    case 'build-started':
      applyBuildStarted(draft, event);
      return;
    case 'build-failing':
      applyBuildFailing(draft, event);
      return;
    case 'build-paused':
      applyBuildPaused(draft, event);
      return;
    case 'build-result':
      applyBuildResult(draft, event);
      return;
    case 'report-result':
      applyReportResult(draft, event);
      return;
    case 'superseded':
      applySuperseded(draft, event);
      return;
    case 'dequeue':
      applyDequeue(draft, event);
      return;
    case 'promote':
      applyPromote(draft, event);
      return;
    case 'halt':
      applyHalt(draft, event);
      return;
    case 'rerun':
      applyRerun(draft, event);
      return;
    default:
      assertNever(event, 'pipeline event');
  }
}

function applySuperseded(
  draft: TurnDraft,
  event: Extract<PipelineEvent, { readonly kind: 'superseded' }>,
): void {
  for (const item of draft.liveItems(event.change)) {
    if (item.phase.phase === 'queued')
      leaveEarly(draft, item, 'superseded', event.by, { event: event.uuid, remover: supercedingItem(event) });
  }
}

/** An item that is being reported cannot be dequeued: the host may have merged it by now. */
function applyDequeue(draft: TurnDraft, event: Extract<PipelineEvent, { readonly kind: 'dequeue' }>): void {
  for (const item of draft.liveItems(event.change)) {
    if (event.item !== undefined && event.item !== item.uuid) continue;
    if (item.phase.phase === 'queued') {
      const asked = withEvent(item, {
        at: draft.input.now,
        name: 'dequeue-requested',
        facts: { by: event.by },
      });
      leaveEarly(draft, asked, 'dequeued-by-hand', `by ${event.by}`, {
        event: event.uuid,
        remover: operator(event),
      });
    } else {
      const about = aboutItem(item, event.uuid);
      draft.decide('event-refused', about, `${event.by} asked to dequeue it while it is being reported`);
    }
  }
}
