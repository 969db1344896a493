/**
 * The states of an item and their presentation: one closed table for the page, the command line, the explanation,
 * metrics and traces. A state without its row does not compile, and a row has no optional column.
 *
 *     ITEM_STATES['change-ahead'].word                      'awaits its turn'
 *     ITEM_STATES['change-ahead'].past('app login,3f2a')    'waited for app login,3f2a ahead to leave'
 *
 * The page loads this file as it is: it imports types only.
 */

/** What an item as a whole is doing: every nanosecond from enqueue to dequeue belongs to exactly one of these. */
export type ItemStateName =
  /** Beyond the window: not prepared yet. */
  | 'window'
  /** A merger computes its merge. */
  | 'merge'
  /** Layout, job graph, heads of other projects. */
  | 'configure'
  | 'repo-state'
  /** A job of the item ahead must succeed first (hold-following-changes). */
  | 'hold-following'
  /** Builds are requested, no executor has taken one yet. */
  | 'executor'
  /** Builds are requested, and each waits for hosts of `nodes.yaml`. */
  | 'nodes'
  /** At least one build runs. */
  | 'running'
  /** Done testing; an item ahead must leave first. */
  | 'change-ahead'
  /** A change it depends on is failing and still in the queue. */
  | 'needed-change'
  /** The code host does not serve: the failed request is tried again. */
  | 'host'
  /** A job could start, but other builds hold a semaphore that it needs. */
  | 'semaphore'
  /** A job could start, but requires what a build of a change ahead has not provided yet. */
  | 'requirement'
  /** A job could start, but an operator paused the pipeline or the queue. */
  | 'paused'
  /** A dependency item: it only holds a place for the items behind. */
  | 'dependency'
  | 'reporting';

/**
 * Gaps found within a state of work, never stored. `scheduler`: no work went on, because no scheduler acted.
 * `executor-lost`, `merger-lost`: the worker had vanished, which was noticed at the end.
 */
export type OwnGap = 'scheduler' | 'executor-lost' | 'merger-lost';

/** A state as explanations and traces show it. */
export type StretchState = ItemStateName | OwnGap;

/** How a state looks. `idle`: nothing is to be done yet; `ahead`: tested, others go first; `trouble`: something is broken. */
export type StateRole = 'idle' | 'wait' | 'prepare' | 'run' | 'ahead' | 'report' | 'trouble';

/** All values of {@link RunState}. */
export const RUN_STATES = ['pending', 'executing', 'finalizing'] as const;
/** OpenTelemetry's words for a run of a pipeline. */
export type RunState = (typeof RUN_STATES)[number];

/** How one state is shown and counted. */
export interface StateRow {
  /** For people, at most 16 columns: `awaits executor`. */
  readonly word: string;
  /** One column. */
  readonly mark: string;
  readonly role: StateRole;
  /** A wait has a span of its own; work is shown by the spans of what is done (`Merge`, `Build`, `Report`, ...). */
  readonly kind: 'wait' | 'work';
  readonly run: RunState;
  /** A new buildset repeats it after a reset. */
  readonly repeated: boolean;
  /** A clause with `it` as its subject, e.g. `waits for an executor`. @param subject what the item waits for, if known. */
  readonly now: (subject?: string | null) => string;
  /** The same of an item of the past: `waited for an executor`. */
  readonly past: (subject?: string | null) => string;
}

/** The table: one row for every state. */
export const ITEM_STATES: { readonly [state in StretchState]: StateRow } = {
  window: {
    word: 'outside window',
    mark: '·',
    role: 'idle',
    kind: 'wait',
    run: 'pending',
    repeated: false,
    now: subject => (subject ? `waits for its turn behind ${subject}` : 'waits for a place in the window'),
    past: subject => (subject ? `waited for its turn behind ${subject}` : 'waited for a place in the window'),
  },
  merge: {
    word: 'merging',
    mark: '○',
    role: 'prepare',
    kind: 'work',
    run: 'pending',
    repeated: true,
    now: () => 'is merged with the changes ahead',
    past: () => 'its merge with the changes ahead was computed',
  },
  configure: {
    word: 'choosing jobs',
    mark: '○',
    role: 'prepare',
    kind: 'work',
    run: 'pending',
    repeated: true,
    now: () => 'has its configuration read and its jobs frozen',
    past: () => 'its configuration was read and its jobs were frozen',
  },
  'repo-state': {
    word: 'reading heads',
    mark: '○',
    role: 'prepare',
    kind: 'work',
    run: 'pending',
    repeated: true,
    now: () => 'has the heads of other projects looked up',
    past: () => 'the heads of other projects were looked up',
  },
  'hold-following': {
    word: 'awaits job ahead',
    mark: '○',
    role: 'wait',
    kind: 'wait',
    run: 'pending',
    repeated: false,
    now: subject => `waits for a job of ${subject ?? 'the item ahead'}`,
    past: subject => `waited for a job of ${subject ?? 'the item ahead'}`,
  },
  executor: {
    word: 'awaits executor',
    mark: '○',
    role: 'wait',
    kind: 'wait',
    run: 'pending',
    repeated: false,
    now: () => 'waits for an executor',
    past: () => 'waited for an executor',
  },
  nodes: {
    word: 'awaits nodes',
    mark: '○',
    role: 'wait',
    kind: 'wait',
    run: 'pending',
    repeated: false,
    now: subject => (subject ? `waits for nodes: ${subject}` : 'waits for nodes'),
    past: subject => (subject ? `waited for nodes: ${subject}` : 'waited for nodes'),
  },
  running: {
    word: 'running',
    mark: '●',
    role: 'run',
    kind: 'work',
    run: 'executing',
    repeated: true,
    now: () => 'runs its jobs',
    past: () => 'ran its jobs',
  },
  'change-ahead': {
    word: 'awaits its turn',
    mark: '✓',
    role: 'ahead',
    kind: 'wait',
    run: 'pending',
    repeated: false,
    now: subject => `waits for ${subject ?? 'an item'} ahead to leave`,
    past: subject => `waited for ${subject ?? 'an item'} ahead to leave`,
  },
  'needed-change': {
    word: 'dependency fails',
    mark: '○',
    role: 'wait',
    kind: 'wait',
    run: 'pending',
    repeated: false,
    now: subject => `waits for ${subject ?? 'a change it depends on'}, which is failing`,
    past: subject => `waited for ${subject ?? 'a change it depends on'}, which was failing`,
  },
  host: {
    word: 'awaits code host',
    mark: '!',
    role: 'trouble',
    kind: 'wait',
    run: 'pending',
    repeated: false,
    now: subject => `waits for the code host of ${subject ?? 'its project'} to serve us`,
    past: subject => `waited for the code host of ${subject ?? 'its project'} to serve us`,
  },
  semaphore: {
    word: 'awaits semaphore',
    mark: '○',
    role: 'wait',
    kind: 'wait',
    run: 'pending',
    repeated: false,
    now: subject => (subject ? `waits for semaphore ${subject}` : 'waits for a semaphore'),
    past: subject => (subject ? `waited for semaphore ${subject}` : 'waited for a semaphore'),
  },
  requirement: {
    word: 'awaits provider',
    mark: '○',
    role: 'wait',
    kind: 'wait',
    run: 'pending',
    repeated: false,
    now: subject => `waits for ${subject ?? 'what a job of a change ahead provides'}`,
    past: subject => `waited for ${subject ?? 'what a job of a change ahead provides'}`,
  },
  paused: {
    word: 'paused',
    mark: '‖',
    role: 'wait',
    kind: 'wait',
    run: 'pending',
    repeated: false,
    now: subject => (subject ? `is paused: ${subject}` : 'is paused'),
    past: subject => (subject ? `was paused: ${subject}` : 'was paused'),
  },
  dependency: {
    word: 'holds a place',
    mark: '◌',
    role: 'idle',
    kind: 'wait',
    run: 'pending',
    repeated: false,
    now: () => 'holds a place for the items behind',
    past: () => 'held a place for the items behind',
  },
  reporting: {
    word: 'reporting',
    mark: '✓',
    role: 'report',
    kind: 'work',
    run: 'finalizing',
    repeated: false,
    now: () => 'is reported to the code host',
    past: () => 'was reported to the code host',
  },
  scheduler: {
    word: 'awaits scheduler',
    mark: '○',
    role: 'wait',
    kind: 'wait',
    run: 'pending',
    repeated: true,
    now: () => 'waits for the scheduler',
    past: () => 'waited for the scheduler',
  },
  'executor-lost': {
    word: 'executor lost',
    mark: '!',
    role: 'trouble',
    kind: 'wait',
    run: 'pending',
    repeated: true,
    now: () => 'waits until the loss of its executor is noticed',
    past: () => 'waited until the loss of its executor was noticed',
  },
  'merger-lost': {
    word: 'merger lost',
    mark: '!',
    role: 'trouble',
    kind: 'wait',
    run: 'pending',
    repeated: true,
    now: () => 'waits until the loss of its merger is noticed',
    past: () => 'waited until the loss of its merger was noticed',
  },
};

/** The row of a state that a service of another version may have named: an unknown state is shown by its name. */
export function rowOfState(name: string): StateRow {
  return Object.hasOwn(ITEM_STATES, name)
    ? ITEM_STATES[name as StretchState]
    : { ...ITEM_STATES.executor, word: name, now: () => name, past: () => name };
}

/** The state is a wait, which has a span of its own. */
export function isWait(state: StretchState): boolean {
  return ITEM_STATES[state].kind === 'wait';
}

/** Found within a state of work, which is then its subject. */
const OWN_GAPS: { readonly [gap in OwnGap]: true } = {
  scheduler: true,
  'executor-lost': true,
  'merger-lost': true,
};

/** The state is a gap that is computed and never stored. */
export function isOwnGap(state: StretchState): state is OwnGap {
  return state in OWN_GAPS;
}

/** Every state, in the table's order. */
export const STRETCH_STATES = Object.keys(ITEM_STATES) as readonly StretchState[];
