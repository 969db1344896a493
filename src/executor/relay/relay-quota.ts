/** What one build may hand to the relay, and what it has handed in. */
export interface RelayLimits {
  /** Spans per build. */
  readonly spans: number;
  /** Bytes per build, of the spans as they are stored. They are kept in memory until the build ends. */
  readonly bytes: number;
}

/** Of one build, for its log and the executor's metrics. */
export interface RelayCounts {
  /** Spans accepted. */
  readonly taken: number;
  /** Of the accepted spans, as they are stored. */
  readonly bytes: number;
  /** Spans rejected, by reason. */
  readonly rejected: ReadonlyMap<RejectionReason, number>;
  /** Playbooks whose sandbox did not listen. */
  readonly unheard: number;
}

/** Why a span is not taken: a label in metrics and in the log of the build. */
export type RejectionReason =
  /** It cannot be read, or makes no sense. */
  | 'malformed'
  /** Of another trace than the build's, without a parent, or with the id of a span of Gatehouse's. */
  | 'not-below-the-build'
  | 'before-the-build'
  | 'over-quota'
  /** Nothing of its trace was running when it was reported. */
  | 'no-playbook';

/** For the log of a build; undefined when its job reported nothing. */
export function countsText({ taken, rejected }: Pick<RelayCounts, 'taken' | 'rejected'>): string | undefined {
  const reasons = [...rejected].map(([reason, spans]) => `${spans} ${reason}`);
  if (taken === 0 && reasons.length === 0) return undefined;
  return `spans of the job: ${taken} taken${reasons.length === 0 ? '' : `, not taken: ${reasons.join(', ')}`}`;
}
