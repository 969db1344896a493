/** Requests that read changes: one by detail, or many with one query. */
import { isMapping } from '../../../src/driver/read-mapping.ts';
import { type Clock, millisecondsBetween } from '../../../src/lib/clock.ts';
import type { Json } from '../../../src/model/job.ts';
import { gerritWaitStep } from '../api/call-steps.ts';
import { CHANGE_OPTIONS, type ChangeInfo, readChangeInfo } from '../api/change-info.ts';
import type { GerritAnswer, GerritApi, GerritCall } from '../api/port.ts';
import { type ChangeReadings, isBehind, type ReadChange, type WantedChange } from './change-readings.ts';

/** What reading works with. */
export interface ReadingChanges {
  readonly api: GerritApi;
  readonly clock: Clock;
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly readings: ChangeReadings;
}

type Answer = GerritAnswer<ReadChange | null>;

const OPTIONS = CHANGE_OPTIONS.map(option => `o=${option}`).join('&');
/** Before an answer that was too old is asked for again. */
const PAUSES_MS = [250, 500, 1_000] as const;

/** @returns `later` when Gerrit does not know the wanted patch set after four answers. */
export async function askForDetail(
  { number, patchset }: WantedChange,
  call: GerritCall,
  { api, clock, pause, readings }: ReadingChanges,
): Promise<Answer> {
  for (let tries = 0; ; tries += 1) {
    const readAt = clock.now();
    const path = `changes/${number}/detail?${OPTIONS}`;
    const answer = await api.ask({ operation: 'changes/detail', method: 'GET', path }, call);
    if (answer.kind === 'refused' && answer.status === 404) return { kind: 'ok', status: 404, data: null };
    if (answer.kind !== 'ok') return answer;
    const info = readChangeInfo(answer.data);
    if (info?.number !== number) return unreadable(answer.data, number);
    if (info.revision.number >= (patchset ?? 0)) {
      readings.keep({ info, readAt });
      return { ...answer, data: { info, readAt } };
    }
    const delay = PAUSES_MS[tries];
    if (delay === undefined) {
      const text = `Gerrit does not show patch set ${patchset} of change ${number} yet`;
      return { kind: 'later', later: { reason: 'other', text } };
    }
    const startedAt = clock.now();
    await pause(delay, call.signal);
    call.signal.throwIfAborted();
    call.steps?.(gerritWaitStep({ reason: 'stale', startedAt, endedAt: clock.now() }));
  }
}

/** A change without a current patch set says nothing that could be judged, however often it is read. */
function unreadable(json: Json, number: number): Answer {
  if (isMapping(json) && json._number === number)
    return { kind: 'refused', status: 200, text: `Gerrit shows no current patch set of change ${number}` };
  const text = `what Gerrit answered is not change ${number}`;
  return { kind: 'later', later: { reason: 'other', text } };
}

/** Of one query; Gerrit bounds the terms of a query, and its answer. */
export const MOST_CHANGES_IN_QUERY = 25;

/** One read of several. */
interface WantedRead {
  readonly wanted: WantedChange;
  readonly call: GerritCall;
}

/** With one query; what it does not show as new as wanted is read by detail. @returns in the order of `reads`, at most 25. */
export async function askForChanges(
  reads: readonly WantedRead[],
  reading: ReadingChanges,
): Promise<readonly Promise<Answer>[]> {
  const { api, clock, readings } = reading;
  const readAt = clock.now();
  const query = reads.map(({ wanted }) => `change:${wanted.number}`).join('+OR+');
  const path = `changes/?q=${query}&n=${MOST_CHANGES_IN_QUERY}&${OPTIONS}`;
  const answer = await api.ask({ operation: 'changes/query', method: 'GET', path }, callOfAll(reads));
  // One with a long history must not keep the others back: where the answer was too large, each is asked for alone.
  if (answer.kind !== 'ok' && answer.kind !== 'refused') return reads.map(() => Promise.resolve(answer));
  const found = answer.kind === 'ok' ? readInfos(answer.data) : new Map<number, ChangeInfo>();
  return reads.map(({ wanted, call }) => {
    const info = found.get(wanted.number);
    if (info === undefined || isStale(info, wanted, reading)) return askForDetail(wanted, call, reading);
    readings.keep({ info, readAt });
    return Promise.resolve({ kind: 'ok', status: 200, data: { info, readAt } });
  });
}

/** Aborted when no caller of any of the reads waits any more. */
function callOfAll(reads: readonly WantedRead[]): GerritCall {
  const [only, ...others] = new Set(reads.map(({ call }) => call.project));
  const stop = new AbortController();
  const left = () => {
    const { reason } = reads[0]?.call.signal ?? stop.signal;
    if (reads.every(({ call }) => call.signal.aborted)) stop.abort(reason);
  };
  for (const { call } of reads) call.signal.addEventListener('abort', left, { once: true });
  return {
    project: others.length === 0 ? (only ?? '') : '',
    signal: stop.signal,
    steps(step) {
      for (const { call } of reads) call.steps?.(step);
    },
  };
}

function readInfos(json: Json): ReadonlyMap<number, ChangeInfo> {
  const infos = (Array.isArray(json) ? json : []).flatMap((each: Json) => readChangeInfo(each) ?? []);
  return new Map(infos.map(info => [info.number, info]));
}

/** A change that an event named was updated about then, the time that its event waited included. */
const LONGEST_SINCE_EVENT_MS = 120_000;

/** Whether the index may be behind. */
function isStale(
  info: ChangeInfo,
  { number, patchset, notBefore }: WantedChange,
  { readings }: ReadingChanges,
): boolean {
  const known = readings.latest(number);
  if (known !== undefined && isBehind(info, known.info)) return true;
  if (patchset === null) return false;
  const isOld = millisecondsBetween(info.updatedAt, notBefore) > LONGEST_SINCE_EVENT_MS;
  return info.revision.number < patchset || isOld;
}
