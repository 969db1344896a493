/** What the parts of one report share, and how Gerrit's answers become their outcome. */
import type { DriverLog } from '../../../src/driver/connection.ts';
import type { ReporterOutcome } from '../../../src/driver/reporter.ts';
import { cutLine } from '../../../src/lib/cut-text.ts';
import type { Change, ProposedChange } from '../../../src/model/change.ts';
import type { GerritAnswer, GerritApi, GerritCall } from '../api/port.ts';

/** A vote that a report gives. */
export interface LabelVote {
  readonly label: string;
  readonly value: number;
}

/** How Gerrit is asked about one change. */
export interface ReviewCalls {
  readonly api: GerritApi;
  readonly log: DriverLog;
  readonly call: GerritCall;
}

/** Anything but `ok`. */
export type NotTaken = Exclude<GerritAnswer<unknown>, { readonly kind: 'ok' }>;

/** `changes/12/revisions/3f2a…`: the patch set that was tested, whichever is the current one. */
export function revisionPath({ id, commit }: Pick<ProposedChange, 'id' | 'commit'>): string {
  return `changes/${id}/revisions/${commit}`;
}

/** A lost answer is tried again later, too: the next try looks first. @param what completes "Gerrit refused …". */
export function outcomeOfNotTaken(answer: NotTaken, what: string): ReporterOutcome {
  switch (answer.kind) {
    case 'refused':
      return { kind: 'failed', text: gerritRefusal(answer, what) };
    case 'later':
    case 'lost':
      return { kind: 'later', ...answer.later };
  }
}

/** One line. @param what completes "Gerrit refused …". */
export function gerritRefusal(
  { status, text }: Extract<NotTaken, { readonly kind: 'refused' }>,
  what: string,
): string {
  return `Gerrit refused ${what}: ${cutLine(text, 500)} [${status}]`;
}

/** Undefined: the change is an update of a ref. */
export function proposedOf(change: Change): ProposedChange | undefined {
  return change.kind === 'change' ? change : undefined;
}
