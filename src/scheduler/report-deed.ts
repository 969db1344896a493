/**
 * One report, carried out: its parts one after the other, each with the right to act proved directly before it.
 *
 * A host that is away is asked again at once a few times, for hiccups; what then is still not done is told to the caller,
 * who knows how to wait: the item waits in its queue, or, where nobody waits for the answer, the intent in its outbox.
 */
import type { Connection } from '../driver/connection.ts';
import type { Clock, Nanoseconds } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { pause } from '../lib/pause.ts';
import { changeText } from '../model/change.ts';
import type { ReportOutcome } from '../model/event.ts';
import type { ConnectionName } from '../model/project.ts';
import type { ReportRecord } from '../model/queue-item.ts';
import type { ReportIntent } from '../model/report-intent.ts';
import { reportLogFacts } from '../tracing/log-facts.ts';
import { hostTroubleOf } from './remote-fault.ts';

export interface DeedDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly connections: ReadonlyMap<ConnectionName, Connection>;
  /** Returns when a write just proved that we hold the fence. @throws when we do not, or cannot know. */
  prove(): Promise<void>;
  /** False: we may have lost the right to act since. */
  mayAct(): boolean;
}

export type ReportPart = NonNullable<ReportRecord['done']>['parts'][number];

export interface Deed {
  readonly outcome: ReportOutcome;
  readonly parts: readonly ReportPart[];
  /** The change has landed, and this is left to be said when the host takes it; absent: nothing. */
  readonly unsaid?: ReportIntent['parts'];
}

/** Milliseconds before the second and third try. */
const HICCUPS = [200, 1_000] as const;

export class NotAllowedToAct extends Error {
  override readonly name = 'NotAllowedToAct';
}

/** @throws NotAllowedToAct when the fence was lost in the middle; the successor carries the intent out again. */
export async function carryOut(intent: ReportIntent, deps: DeedDeps, signal: AbortSignal): Promise<Deed> {
  const parts: ReportPart[] = [];
  let merged = false;
  for (const [index, part] of intent.parts.entries()) {
    const done = await carryOutPart(intent, part, deps, signal);
    parts.push(done.record);
    switch (done.outcome.kind) {
      case 'base-moved':
      case 'not-merged':
        return { outcome: done.outcome, parts };
      case 'host':
        // What has landed has landed: what is left are words.
        return merged && !part.merges
          ? { outcome: { kind: 'done', merged }, parts, unsaid: intent.parts.slice(index) }
          : { outcome: done.outcome, parts };
      case 'done':
        merged ||= part.merges;
        if (done.outcome.unsaid === true)
          return { outcome: { kind: 'done', merged }, parts, unsaid: intent.parts.slice(index) };
        break;
      case 'failed':
        break;
    }
  }
  return { outcome: { kind: 'done', merged }, parts };
}

async function carryOutPart(
  intent: ReportIntent,
  part: ReportIntent['parts'][number],
  deps: DeedDeps,
  signal: AbortSignal,
): Promise<{ outcome: ReportOutcome; record: ReportPart }> {
  const log = deps.log.child({ ...reportLogFacts(intent), connection: part.connection });
  const startedAt = deps.clock.now();
  const ended = (outcome: ReportOutcome, tries: number) => ({
    outcome,
    record: recordOf(part, outcome, startedAt, deps.clock.now(), tries),
  });
  for (let tries = 1; ; tries++) {
    signal.throwIfAborted();
    await deps.prove();
    if (!deps.mayAct()) throw new NotAllowedToAct(`report ${intent.uuid}`);
    try {
      return ended(await ask(intent, part, deps, signal), tries);
    } catch (error) {
      signal.throwIfAborted();
      if (!deps.mayAct()) throw new NotAllowedToAct(`report ${intent.uuid}`);
      const wait = HICCUPS[tries - 1];
      const next = wait === undefined ? 'it is tried again later' : 'trying again';
      log.warn({ err: error, tries }, `could not report ${changeText(part.change)}; ${next}`);
      if (wait === undefined)
        return ended({ kind: 'host', trouble: hostTroubleOf(error, part.change.project) }, tries);
      await pause(wait, signal);
    }
  }
}

async function ask(
  intent: ReportIntent,
  part: ReportIntent['parts'][number],
  deps: DeedDeps,
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
  const kind = part.merges ? 'HostMerge' : 'HostReport';
  const common = { kind, connection: part.connection, startedAt, endedAt, tries } as const;
  switch (outcome.kind) {
    case 'done':
      return { ...common, outcome: 'done' };
    case 'failed':
      return { ...common, outcome: 'failed', reason: 'failed', text: outcome.text };
    case 'host':
      return { ...common, outcome: 'failed', reason: 'host', text: outcome.trouble.text };
    case 'base-moved':
    case 'not-merged':
      return { ...common, outcome: 'refused', reason: outcome.kind, text: outcome.text };
  }
}
