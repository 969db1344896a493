/** What a campaign of some size must have met, or it proves less than it seems to. */
/** Runs from which on a campaign must have met all of it. */
export const MUST_REACH_AFTER = 300;

export const MUST_REACH: readonly string[] = [
  'a build is reported after its item has left',
  'a build is tried again',
  'a fence changed hands',
  'a job has a trace of its own',
  'an item is kept for what became of it',
  'call while suspended',
  'collector: internal error',
  'everything landed in spite of faults',
  'host: the reply was lost',
  'host: the request was lost',
  'left: abandoned DEQUEUED',
  'left: new-patchset DEQUEUED',
  'left: overtaken DEQUEUED',
  'left: reported FAILURE',
  'left: reported MERGE_CONFLICT',
  'left: reported SUCCESS',
  'reconnected',
  'reply lost',
  'request lost',
  'reset: base-moved',
  'reset: item-ahead-failed',
  'reset: item-ahead-left',
  'sql: the request was lost',
  'the ratio leaves an event out',
  'taken over while merging',
  'taken over while reporting',
  'taken over while running',
  'a webhook was sent again',
];
