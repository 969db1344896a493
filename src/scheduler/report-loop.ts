/**
 * Reports: durable intents, carried out side by side, those of one item in their order, answered by an event to the pipeline.
 * Notes that are written at the same time share a push, and one that waits for its host holds up no other.
 *
 * The deed comes after the intent and before the answer, so a crash between them makes it happen again: drivers ask the
 * host first and find it done. No pipeline waits inside a turn for a host.
 *
 * Directly before each deed the right to do it is proved by a write under the fence, and the driver asks once more directly
 * before each push: a process that was stopped in between, for however long, does nothing when it goes on.
 */
import type { Connection } from '../driver/connection.ts';
import type { Clock, Nanoseconds } from '../lib/clock.ts';
import type { IdMaker } from '../lib/ids.ts';
import { createLanes } from '../lib/lanes.ts';
import type { Log } from '../lib/log.ts';
import { pause } from '../lib/pause.ts';
import { changeText } from '../model/change.ts';
import { reportIntentCodec } from '../model/codec/records.ts';
import type { PipelineEvent, ReportOutcome } from '../model/event.ts';
import type { ConnectionName } from '../model/project.ts';
import type { ReportRecord } from '../model/queue-item.ts';
import type { ReportIntent } from '../model/report-intent.ts';
import { connected } from '../store/connection.ts';
import type { EventQueue } from '../store/event-queue.ts';
import type { Fence } from '../store/fence.ts';
import { listOutbox, type OutboxEntry } from '../store/outbox.ts';
import { remove, type Store } from '../store/port.ts';
import type { Quarantine } from '../store/quarantine.ts';
import { wakeUps } from '../store/wake-ups.ts';
import { reportLogFacts } from '../tracing/log-facts.ts';

export interface ReportDeps {
  readonly clock: Clock;
  readonly ids: IdMaker;
  readonly log: Log;
  readonly connections: ReadonlyMap<ConnectionName, Connection>;
  /** Returns when a write just proved that we hold the fence. @throws when we do not, or cannot know. */
  prove(): Promise<void>;
  /** False: we may have lost the right to act since. */
  mayAct(): boolean;
}

type ReportPart = NonNullable<ReportRecord['done']>['parts'][number];
type ReportResult = Extract<PipelineEvent, { kind: 'report-result' }>;

/** Milliseconds before the second, third, ... try of a host that cannot be reached. */
const RETRIES = [200, 1_000, 5_000, 15_000, 30_000] as const;
/** A note that cannot be written after this many tries is given up; a merge never is. */
const MAX_NOTE_TRIES = 6;

export class NotAllowedToAct extends Error {
  override readonly name = 'NotAllowedToAct';
}

/** @throws NotAllowedToAct when the fence was lost in the middle; the successor carries the intent out again. */
export async function carryOut(
  intent: ReportIntent,
  deps: ReportDeps,
  signal: AbortSignal,
): Promise<ReportResult | undefined> {
  const parts: ReportPart[] = [];
  let outcome: ReportOutcome = { kind: 'done', merged: false };
  for (const part of intent.parts) {
    const done = await carryOutPart(intent, part, deps, signal);
    parts.push(done.record);
    if (done.outcome.kind === 'base-moved' || done.outcome.kind === 'not-merged') {
      outcome = done.outcome;
      break;
    }
    if (done.outcome.kind === 'done' && part.merges) outcome = { kind: 'done', merged: true };
  }
  if (intent.item === null) return undefined;
  return {
    kind: 'report-result',
    uuid: deps.ids.uuid(),
    item: intent.item,
    report: intent.uuid,
    at: deps.clock.now(),
    outcome,
    parts,
  };
}

async function carryOutPart(
  intent: ReportIntent,
  part: ReportIntent['parts'][number],
  deps: ReportDeps,
  signal: AbortSignal,
): Promise<{ outcome: ReportOutcome; record: ReportPart }> {
  const log = deps.log.child({ ...reportLogFacts(intent), connection: part.connection });
  const startedAt = deps.clock.now();
  for (let tries = 1; ; tries++) {
    signal.throwIfAborted();
    await deps.prove();
    if (!deps.mayAct()) throw new NotAllowedToAct(`report ${intent.uuid}`);
    try {
      const outcome = await ask(intent, part, deps, signal);
      return { outcome, record: recordOf(part, outcome, startedAt, deps.clock.now(), tries) };
    } catch (error) {
      signal.throwIfAborted();
      const text = error instanceof Error ? error.message : String(error);
      log.warn({ err: error, tries }, `could not report ${changeText(part.change)}; trying again`);
      if (!part.merges && tries >= MAX_NOTE_TRIES) {
        const outcome: ReportOutcome = { kind: 'failed', text };
        return { outcome, record: recordOf(part, outcome, startedAt, deps.clock.now(), tries) };
      }
      await pause(RETRIES[Math.min(tries - 1, RETRIES.length - 1)] ?? 30_000, signal);
    }
  }
}

async function ask(
  intent: ReportIntent,
  part: ReportIntent['parts'][number],
  deps: ReportDeps,
  signal: AbortSignal,
): Promise<ReportOutcome> {
  const reporter = deps.connections.get(part.connection)?.reporter;
  if (reporter === undefined) return { kind: 'failed', text: `connection ${part.connection} cannot report` };
  return reporter.report(
    {
      action: intent.action,
      config: part.config,
      change: part.change,
      tenant: intent.tenant,
      pipeline: intent.pipeline,
      item: intent.item ?? '',
      message: intent.message,
      result: intent.result,
      url: intent.url,
      ...(part.tested === undefined ? {} : { tested: part.tested }),
    },
    signal,
    () => deps.mayAct(),
  );
}

function recordOf(
  part: ReportIntent['parts'][number],
  outcome: ReportOutcome,
  startedAt: Nanoseconds,
  endedAt: Nanoseconds,
  tries: number,
): ReportPart {
  return {
    kind: part.merges ? 'HostMerge' : 'HostReport',
    connection: part.connection,
    startedAt,
    endedAt,
    tries,
    outcome: outcome.kind === 'done' ? 'done' : outcome.kind === 'failed' ? 'failed' : 'refused',
    ...(outcome.kind === 'done' ? {} : { reason: outcome.kind, text: outcome.text }),
  };
}

export interface ReportLoopDeps extends Omit<ReportDeps, 'prove' | 'mayAct'> {
  readonly store: Store;
  /** Outbox of intents of one pipeline. */
  readonly outbox: string;
  readonly events: EventQueue<PipelineEvent>;
  /** Where intents go that nobody can read. */
  readonly quarantine: Quarantine;
}

/** Intents of one pipeline under way at a time. */
const AT_ONCE = 32;

/** Carries out the intents of one pipeline, under its fence. Returns when aborted; throws when the fence is lost. */
export async function processReports(deps: ReportLoopDeps, fence: Fence, signal: AbortSignal): Promise<void> {
  const right = {
    mayAct: () => fence.held,
    async prove() {
      await connected(deps.store, signal);
      await fence.commit([], deps.ids.uuid());
    },
  };
  const lanes = createLanes(AT_ONCE);
  const stop = AbortSignal.any([signal, lanes.failed]);
  const taken = new Set<string>();
  try {
    for await (const _ of wakeUps(deps.store, deps.outbox, stop, event => event.kind === 'created')) {
      for (const entry of await newEntries(deps, taken)) {
        const node = await deps.store.get(entry.path);
        const intent = await deps.quarantine.read(reportIntentCodec, entry.path, node);
        if (intent === undefined) continue;
        lanes.run(laneOf(intent), async () => {
          const result = await carryOutInContact(intent, { ...deps, ...right }, fence, stop);
          const answer = result === undefined ? [] : deps.events.put(result);
          await fence.commit([remove(entry.path), ...answer], deps.ids.uuid());
        });
      }
    }
  } catch (error) {
    lanes.stop(error);
  }
  try {
    await lanes.idle();
  } catch (error) {
    if (!signal.aborted || error !== signal.reason) throw error;
  }
}

/** Adds them to `taken`, and forgets there what has left the outbox. */
async function newEntries(
  { store, outbox }: ReportLoopDeps,
  taken: Set<string>,
): Promise<readonly OutboxEntry[]> {
  const entries = await listOutbox(store, outbox);
  const present = new Set(entries.map(({ path }) => path));
  for (const path of taken) if (!present.has(path)) taken.delete(path);
  const fresh = entries.filter(({ path }) => !taken.has(path));
  for (const { path } of fresh) taken.add(path);
  return fresh;
}

/** Reports that must keep their order: start before success. An item merges when all ahead of it have left, so merges do by themselves. */
function laneOf({ item, parts, uuid }: ReportIntent): string {
  return item ?? parts[0]?.change.key ?? uuid;
}

/** A contact that is lost for a while between the proof and the deed costs a repetition, not the fence. */
async function carryOutInContact(
  intent: ReportIntent,
  deps: ReportDeps,
  fence: Fence,
  signal: AbortSignal,
): Promise<ReportResult | undefined> {
  for (;;) {
    try {
      return await carryOut(intent, deps, signal);
    } catch (error) {
      if (!(error instanceof NotAllowedToAct) || fence.lost.aborted) throw error;
    }
  }
}
