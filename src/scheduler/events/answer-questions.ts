/**
 * Answers what people ask at the code host about a change: why it is, or is not, in a pipeline. A question is stored with the event that
 * brought it, and leaves the store when the host has the answer, so that no restart loses one; a repeated answer takes the place of the
 * one before.
 *
 *     asked, asked, asked       one answer, for all that were asked until then
 *     asked again within 10 s   answered when they are over
 *     the host does not serve   tried again with growing pauses, until the question is an hour old
 */

import type { Answerer, AnswerOutcome } from '../../driver/answerer.ts';
import type { Connection } from '../../driver/connection.ts';
import { hostSteps, hostStepsOfError } from '../../driver/host-steps.ts';
import { type Clock, millisecondsBetween } from '../../lib/clock.ts';
import type { IdMaker } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';
import { createDirty } from '../../lib/signal.ts';
import { type Change, type ChangeKey, changeText } from '../../model/change.ts';
import type { ProjectKey, TenantName } from '../../model/project.ts';
import type { Question } from '../../model/question.ts';
import type { Step } from '../../model/step.ts';
import { isOutOfContact } from '../../store/connection.ts';
import type { EventQueue, QueueEntry } from '../../store/event-queue.ts';
import { type Fence, Fenced } from '../../store/fence.ts';
import type { StorePaths } from '../../store/paths.ts';
import type { Operation } from '../../store/port.ts';
import type { LiveTracing } from '../../tracing/live-tracing.ts';
import { hostAnswerSpans } from '../../tracing/spans/host-answer-spans.ts';
import { traceRows } from '../care/trace-rows.ts';
import type { ChangeCache } from '../changes/change-cache.ts';
import { REMOTE_PAUSES, troubleOf } from '../remote-fault.ts';

/** Explains a change for the people of these tenants, in lines of text. @throws when it cannot now. */
export type ExplainChange = (change: Change, tenants: readonly TenantName[]) => Promise<string>;

/** Of the connection's holder. */
export interface AnswerDeps {
  readonly connection: Pick<Connection, 'name'>;
  readonly answerer: Answerer;
  readonly explain: ExplainChange;
  readonly questions: EventQueue<Question>;
  readonly changes: Pick<ChangeCache, 'fresh' | 'record'>;
  tenantsOf(project: ProjectKey): readonly { readonly tenant: TenantName }[];
  /** Those of them whose people are answered, by the layouts in force. */
  outsideShadow(tenants: readonly TenantName[]): Promise<readonly TenantName[]>;
  readonly paths: Pick<StorePaths, 'spanOutbox' | 'historyOutbox'>;
  readonly tracing: Pick<LiveTracing, 'spans'>;
  readonly clock: Clock;
  readonly ids: IdMaker;
  readonly log: Log;
  /** Milliseconds between two answers about one change. Default 10,000. */
  readonly rest?: number;
}

/** Questions read at a time; the others wait. */
const MOST = 500;
/** Milliseconds after which a question is given up. */
const LONGEST_MS = 3_600_000;
const REST_MS = 10_000;

/** When a change may be answered again, in milliseconds of `performance.now()`, and failures in a row with their requests. */
interface Hold {
  readonly until: number;
  readonly failures: number;
  readonly steps: readonly Step[];
}

type Entries = readonly [QueueEntry<Question>, ...QueueEntry<Question>[]];

/** Returns when aborted; throws when the fence is lost. */
export async function answerQuestions(deps: AnswerDeps, fence: Fence, signal: AbortSignal): Promise<void> {
  const retry = createDirty(true);
  const holds = new Map<ChangeKey, Hold>();
  let timer: NodeJS.Timeout | undefined;
  try {
    for await (const _ of deps.questions.arrivals(signal, retry)) {
      clearTimeout(timer);
      for (const [change, { until }] of holds)
        if (until <= performance.now() - LONGEST_MS) holds.delete(change);
      const entries = await deps.questions.list(MOST);
      for (const [change, asked] of Map.groupBy(entries, ({ value }) => value.change)) {
        const [first, ...others] = asked;
        const hold = holds.get(change) ?? { until: 0, failures: 0, steps: [] };
        if (first === undefined || hold.until > performance.now()) continue;
        holds.set(change, await takeUp(change, [first, ...others], hold, deps, fence, signal));
        if (signal.aborted) return;
      }
      const left = (await deps.questions.list(MOST)).map(({ value }) => holds.get(value.change)?.until ?? 0);
      if (left.length === 0) continue;
      timer = setTimeout(() => retry.set(), Math.max(1, Math.min(...left) - performance.now()));
    }
  } finally {
    clearTimeout(timer);
  }
}

async function takeUp(
  key: ChangeKey,
  asked: Entries,
  { failures, steps: before }: Hold,
  deps: AnswerDeps,
  fence: Fence,
  signal: AbortSignal,
): Promise<Hold> {
  const { clock, log, rest = REST_MS } = deps;
  const outcome = await outcomeOf(key, asked, deps, signal);
  const steps = hostSteps([...before, ...(outcome.steps ?? [])]);
  const isOld = asked.every(({ value }) => millisecondsBetween(value.askedAt, clock.now()) > LONGEST_MS);
  const facts = { connection: deps.connection.name, change: key };
  if (outcome.kind === 'later' && !isOld) {
    if (failures === 0)
      log.info({ ...facts, reason: outcome.reason }, `an answer has to wait: ${outcome.text}`);
    return { until: performance.now() + pauseOf(outcome, failures, clock), failures: failures + 1, steps };
  }
  if (outcome.kind !== 'done') log.warn(facts, `a question is not answered: ${outcome.text}`);
  await fence.commit(
    [
      ...asked.map(entry => deps.questions.ack(entry)),
      ...traceOf(key, asked, outcome, { tries: failures + 1, steps }, deps),
    ],
    deps.ids.uuid(),
  );
  return { until: performance.now() + rest, failures: 0, steps: [] };
}

/** Of an answer that is not tried again; none while tracing is off. */
function traceOf(
  key: ChangeKey,
  asked: Entries,
  { kind }: AnswerOutcome,
  attempts: { readonly tries: number; readonly steps: readonly Step[] },
  { connection, changes, paths, tracing, clock, ids }: AnswerDeps,
): readonly Operation[] {
  const options = tracing.spans();
  if (options === undefined) return [];
  const endedAt = clock.now();
  const facts = {
    answer: ids.uuid(),
    connection: connection.name,
    change: changes.record(key)?.change ?? key,
    by: (asked.at(-1) ?? asked[0]).value.by,
    origins: asked.map(({ value }) => value.origin),
    askedAt: asked[0].value.askedAt,
    endedAt,
    outcome: kind === 'later' ? ('host' as const) : kind,
    ...attempts,
  };
  return traceRows(paths, hostAnswerSpans(facts, options), endedAt);
}

function pauseOf(
  { notBefore }: Extract<AnswerOutcome, { readonly kind: 'later' }>,
  failures: number,
  clock: Clock,
): number {
  const own = REMOTE_PAUSES[Math.min(failures, REMOTE_PAUSES.length - 1)] ?? 0;
  const named = notBefore === undefined ? 0 : millisecondsBetween(clock.now(), notBefore);
  return Math.min(LONGEST_MS, Math.max(own, named));
}

async function outcomeOf(
  key: ChangeKey,
  asked: Entries,
  { answerer, explain, changes, tenantsOf, outsideShadow }: AnswerDeps,
  signal: AbortSignal,
): Promise<AnswerOutcome> {
  const { by } = (asked.at(-1) ?? asked[0]).value;
  try {
    await changes.fresh();
    const change = changes.record(key)?.change;
    if (change === undefined) return { kind: 'failed', text: 'the change is not known any more' };
    const tenants = tenantsOf(change.project).map(({ tenant }) => tenant);
    if (tenants.length === 0)
      return { kind: 'failed', text: `no tenant has the project of ${changeText(change)}` };
    const answered = await outsideShadow(tenants);
    if (answered.length === 0) return { kind: 'failed', text: `${tenants.join(', ')}: in shadow mode` };
    const text = await explain(change, answered);
    return await answerer.answer({ change, by, text }, signal, () => !signal.aborted);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof Fenced || isOutOfContact(error)) throw error;
    return { kind: 'later', ...troubleOf(error), steps: hostStepsOfError(error) };
  }
}
