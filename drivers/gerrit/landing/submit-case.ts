import type { GerritFacts } from '../facts.ts';

/** A vote that a pipeline gives with its success. */
export type PlannedVote = { readonly label: string; readonly value: number };

/** What is asked: whether this change could be submitted, once the pipeline has voted. */
export interface SubmitCase {
  readonly facts: GerritFacts;
  /** `branch master of acme/app`. */
  readonly place: string;
  /** E.g. `acme/app`. */
  readonly project: string;
  /** Of the pipeline, without those that our account may not give. */
  readonly votes: readonly PlannedVote[];
  /** Of the pipeline, as far as Gerrit says that our account may not give them. */
  readonly denied: readonly PlannedVote[];
}
