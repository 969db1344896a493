/**
 * Document of one item for the page, the command line and the live stream: pure, without the current time, so that it changes only
 * when the item does. Times are milliseconds since the epoch; readers compute elapsed times themselves.
 */
import { toMilliseconds } from '../lib/clock.ts';
import { testedBeforeOf } from '../model/build-set.ts';
import { briefResetText, leaveText, resetText } from '../model/cause.ts';
import { type Change, changeText } from '../model/change.ts';
import { STRETCH_STATES } from '../model/item-states.ts';
import { lostBuildTime } from '../model/lost-time.ts';
import { projectIdOf } from '../model/project.ts';
import { buildsetsOf, endOfItem, type QueueItem, type TimelineEntry } from '../model/queue-item.ts';
import { withheldReport } from '../model/withheld-report.ts';
import { failingReasons } from './failing-reasons.ts';
import { liveJobSchema, liveJobs } from './live-job.ts';
import {
  type Document,
  document,
  flag,
  list,
  milliseconds,
  nullable,
  number,
  oneOf,
  text,
  uuid,
  whole,
} from './schema.ts';
import { withheldSchema } from './withheld-schema.ts';

const stateSchema = document({
  name: oneOf(STRETCH_STATES, 'A state of decisions-and-results.md'),
  since: milliseconds(),
  subject: nullable(text(), 'Subject of a wait, for people: a change, or a connection'),
});

const changeSchema = document({
  text: text('Project and change, for people'),
  project: text('Without its connection'),
  name: text("The host's name for the change, or a ref"),
  id: text('In the address of its decisions: its name, of a ref `<ref>@<commit>`'),
  subject: nullable(text()),
  owner: nullable(text()),
  url: nullable(text('Page at the code host; http or https')),
});

const resetSchema = document({
  at: milliseconds(),
  code: text('A reset cause of decisions-and-results.md'),
  number: whole('Number of the buildset that the reset ended'),
  text: text('Why, for people'),
  brief: text('The same in short'),
  lostMs: number('Milliseconds of build time lost'),
});

/** `GET …/item/<uuid>`, and the documents `item/<uuid>` of the live stream. */
export const liveItemSchema = document({
  uuid: uuid('Also the id of its trace'),
  tenant: text(),
  pipeline: text(),
  queue: text('Key of its change queue'),
  role: oneOf(['live', 'dependency'], 'A dependency runs no jobs of its own'),
  changes: list(changeSchema),
  dependsOn: list(text('Key of a change')),
  enqueuedAt: milliseconds(),
  behind: nullable(uuid(), 'The item this one is tested on top of'),
  active: flag('Inside the window'),
  state: stateSchema,
  hostWait: nullable(
    document({
      project: text(),
      doing: text('merge, build or report'),
      reason: text(),
      text: text('For people'),
      tries: whole(),
      since: milliseconds(),
      retryAt: milliseconds(),
    }),
    "Trouble of its code host, found by this item's own requests",
  ),
  timeline: list(stateSchema, 'Oldest first; each ends where the next begins'),
  failing: list(text('Why it will not merge')),
  buildset: document({ uuid: uuid(), number: whole(), stage: text() }),
  testedBefore: nullable(
    document({ item: uuid(), buildset: uuid() }),
    'The buildset, and its item, that tested the same state: no job ran here',
  ),
  jobs: list(liveJobSchema),
  jobDecisions: list(document({ job: text(), runs: flag(), because: text('A clause') })),
  resets: list(resetSchema, 'Oldest first'),
  left: nullable(
    document({ at: milliseconds(), result: text(), reason: text('Code'), text: text('For people') }),
    'Null while it is in its pipeline',
  ),
  withheld: withheldSchema(),
  traceUrl: nullable(text('In the trace viewer')),
  tracesUrl: nullable(text('Search for all its traces in the trace viewer')),
});
/** Read by the page and the command line; the status document is made of it, under Zuul's names. */
export type LiveItem = Document<typeof liveItemSchema>;

/** Each entry of `GET …/items`. */
export const finishedItemSchema = document({
  uuid: uuid(),
  pipeline: text(),
  changes: list(changeSchema),
  enqueuedAt: milliseconds(),
  leftAt: milliseconds(),
  result: nullable(text()),
  reason: nullable(text('Code')),
  resets: whole(),
});
/** A line of the lists of finished items; the item's own document has the rest. */
export type FinishedItem = Document<typeof finishedItemSchema>;

/** Facts of an item's document that its record does not have. */
export interface ItemLinks {
  /** Address of the trace in the configured viewer; null: tracing is off, or the item is not sampled. */
  readonly traceUrl: string | null;
  /** Search for all its traces there: its own and those of its event and of long jobs. */
  readonly tracesUrl: string | null;
  /** Usual durations by job name, in milliseconds. */
  readonly expected: ReadonlyMap<string, number>;
}

/** Encodes an item, live or finished. */
export function liveItem(item: QueueItem, { traceUrl, tracesUrl, expected }: ItemLinks): LiveItem {
  const state: TimelineEntry = item.timeline.at(-1) ?? item.timeline[0];
  const left = item.phase.phase === 'left' ? item.phase : null;
  return {
    uuid: item.uuid,
    tenant: item.tenant,
    pipeline: item.pipeline,
    queue: item.queue,
    role: item.role,
    changes: item.changes.map(shownChange),
    dependsOn: item.dependsOn.map(key => key.slice(key.indexOf('/') + 1)),
    enqueuedAt: toMilliseconds(item.enqueuedAt),
    behind: item.behind,
    active: isActive(item),
    state: shownState(state),
    hostWait: shownHostWait(item),
    timeline: item.timeline.map(shownState),
    failing: failingReasons(item),
    buildset: { uuid: item.buildset.uuid, number: item.buildset.number, stage: item.buildset.stage.state },
    testedBefore: testedBeforeOf(item.buildset),
    jobs: liveJobs(item, expected),
    jobDecisions: item.buildset.verdicts ?? [],
    resets: resetsOf(item),
    left:
      left === null
        ? null
        : {
            at: toMilliseconds(left.at),
            result: left.result,
            reason: left.reason,
            text: leaveText(left.reason),
          },
    withheld: withheldReport(item),
    traceUrl,
    tracesUrl,
  };
}

function shownState({ state, since, subject }: TimelineEntry) {
  return { name: state, since: toMilliseconds(since), subject: subject ?? null };
}

/** Only for an item whose own requests failed; items behind it that wait for the same host show only their state. */
function shownHostWait({ hostWait }: QueueItem) {
  if (hostWait === undefined) return null;
  const { project, doing, reason, text, since, tries, retryAt } = hostWait;
  const times = { since: toMilliseconds(since), retryAt: toMilliseconds(retryAt) };
  return { project: projectIdOf(project).name, doing, reason, text, tries, ...times };
}

function isActive(item: QueueItem): boolean {
  return item.timeline.at(-1)?.state !== 'window';
}

/** Time, cause and cost of each reset. */
function resetsOf(item: QueueItem): LiveItem['resets'] {
  const all = buildsetsOf(item);
  return item.earlier.flatMap((buildset, index) => {
    // A buildset that had a result is not marked superseded; then the next buildset has the cause.
    const cause = buildset.stage.state === 'superseded' ? buildset.stage.cause : all[index + 1]?.cause;
    if (cause === null || cause === undefined) return [];
    const lost = Number(BigInt(lostBuildTime(buildset, all.slice(index + 1))) / 1_000_000n);
    return [
      {
        at: toMilliseconds(cause.at),
        code: cause.code,
        number: buildset.number,
        text: resetText(cause),
        brief: briefResetText(cause),
        lostMs: lost,
      },
    ];
  });
}

function shownChange(change: Change) {
  return {
    text: changeText(change),
    project: projectIdOf(change.project).name,
    name: change.kind === 'change' ? change.id : change.ref,
    id: change.key.slice(change.project.length + 1),
    subject: change.kind === 'change' ? change.subject : null,
    owner: change.kind === 'change' ? (change.owner ?? null) : null,
    url: change.url !== undefined && /^https?:\/\//.test(change.url) ? change.url : null,
  };
}

/** Encodes an entry of the list of finished items. */
export function finishedItem(item: QueueItem): FinishedItem {
  return {
    uuid: item.uuid,
    pipeline: item.pipeline,
    changes: item.changes.map(shownChange),
    enqueuedAt: toMilliseconds(item.enqueuedAt),
    leftAt: toMilliseconds(endOfItem(item) ?? item.enqueuedAt),
    result: item.phase.phase === 'left' ? item.phase.result : null,
    reason: item.phase.phase === 'left' ? item.phase.reason : null,
    resets: item.earlier.length,
  };
}
