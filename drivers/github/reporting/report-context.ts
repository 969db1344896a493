/** What the parts of one report share, and how GitHub's answers become their outcome. */
import type { DriverLog } from '../../../src/driver/connection.ts';
import type { ReporterOutcome } from '../../../src/driver/reporter.ts';
import type { Nanoseconds } from '../../../src/lib/clock.ts';
import type { Change } from '../../../src/model/change.ts';
import type { CommitId } from '../../../src/model/project.ts';
import type { Report } from '../../../src/model/report.ts';
import type { GithubAnswer, GithubApi, GithubCall, Weight } from '../api/port.ts';
import type { ReportMemory } from './report-memory.ts';

/** What a pipeline says about reports, in Zuul's words. */
export interface ReporterWords {
  readonly check?: string;
  readonly status?: string;
  readonly 'status-url'?: string;
  /** Default true, as in Zuul. */
  readonly comment?: boolean;
  readonly review?: 'approve' | 'request-changes' | 'comment';
  readonly 'review-body'?: string;
  readonly label?: readonly string[];
  readonly unlabel?: readonly string[];
  /** Lands the change. */
  readonly merge?: boolean;
}

/** One report by one reporter. */
export interface GithubReportContext {
  readonly api: GithubApi;
  readonly log: DriverLog;
  readonly words: ReporterWords;
  readonly report: Report;
  readonly change: Change;
  /** What checks and statuses are about: the change's head, or a commit that is to be pushed. */
  readonly commit: CommitId;
  /** Nothing of this item is at GitHub: what can only be this item's is created without looking for it. */
  readonly isFirst: boolean;
  /** Since when no other process writes comments of the pipeline; undefined: this report may have been tried before. */
  readonly aloneSince: Nanoseconds | undefined;
  /** Of the item's earlier reports. */
  readonly remembered: ReportMemory;
  /** Gets what this report wrote. */
  readonly note: (written: ReportMemory) => void;
  /** The item goes on after its end was written: a run that is completed is opened again. */
  readonly reopens?: true;
  call(weight: Weight): GithubCall;
}

/** Number of the pull request; undefined: the change is an update of a ref. */
export function pullNumberOf(change: Change): number | undefined {
  return change.kind === 'change' ? Number(change.id) : undefined;
}

/** Anything but `ok`. */
export type NotOk = Exclude<GithubAnswer<unknown>, { readonly kind: 'ok' }>;

/** What a key stood for is not there any more. */
export function isGone(answer: { readonly kind: string; readonly status?: number }): boolean {
  return answer.kind === 'refused' && (answer.status === 404 || answer.status === 410);
}

/** A lost answer is tried again later, too: the next try looks first. @param what completes "GitHub refused …". */
export function outcomeOfRefusal(answer: NotOk, what: string): ReporterOutcome {
  switch (answer.kind) {
    case 'refused':
      return { kind: 'failed', text: refusalLine(answer, what) };
    case 'later':
    case 'lost':
      return { kind: 'later', ...answer.later };
  }
}

/** @param what completes "GitHub refused …". */
export function refusalLine(answer: Extract<NotOk, { readonly kind: 'refused' }>, what: string): string {
  return `GitHub refused ${what}: ${saidBy(answer.text)}${detailsOf(answer)}`;
}

/** GitHub's own words, without what the client puts before them. */
export function saidBy(text: string): string {
  return text.replace(/^GitHub answered \d{3}: /, '').slice(0, 500);
}

function detailsOf({ status, errors }: Extract<NotOk, { readonly kind: 'refused' }>): string {
  const details = errors.length === 0 ? '' : ` (${errors.slice(0, 5).join('; ')})`;
  return `${details.slice(0, 500)} [${status}]`;
}
