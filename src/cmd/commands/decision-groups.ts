/**
 * Decisions grouped by event and pipeline: each pipeline's verdict on the event, then the history of the item it enqueued. Later
 * decisions about an item carry no event; they belong to the event that enqueued it.
 */
import type { Nanoseconds } from '../../lib/clock.ts';
import type { Decision } from '../../model/decision.ts';

/** The decisions that one event led to; those without a known event are grouped by item, the others together. */
export interface EventGroup {
  /** Time of the first decision. */
  readonly at: Nanoseconds;
  /** Kind of the event, e.g. `approved`. */
  readonly event: string;
  readonly changeText: string;
  /** Pipelines that took the change first, then in the order of the decisions. */
  readonly lines: readonly PipelineLine[];
}

/** What one pipeline made of the event. */
export interface PipelineLine {
  /** `tenant` for a decision above the pipelines. */
  readonly pipeline: string;
  readonly entered: boolean;
  /** Text of the deciding verdict. */
  readonly reason: string;
  /** Later decisions about its item, oldest first. */
  readonly after: readonly Decision[];
}

const OTHER = 'other';

/** @param decisions oldest first. @returns newest event first. */
export function eventGroups(decisions: readonly Decision[]): readonly EventGroup[] {
  const eventOfItem = new Map<string, string>();
  for (const { item, event } of decisions)
    if (item !== null && event !== null && !eventOfItem.has(item)) eventOfItem.set(item, event);
  const groupOf = ({ item, event }: Decision) =>
    (item === null ? undefined : eventOfItem.get(item)) ?? event ?? item ?? OTHER;
  return [...Map.groupBy(decisions, groupOf).values()].map(groupFrom).reverse();
}

function groupFrom(decisions: readonly Decision[]): EventGroup {
  const [first] = decisions;
  if (first === undefined) throw new Error('a group of decisions is never empty');
  const lines = [...Map.groupBy(decisions, ({ pipeline }) => pipeline ?? 'tenant')].map(([pipeline, all]) =>
    lineFrom(pipeline, all),
  );
  const entered = lines.filter(line => line.entered);
  return {
    at: first.at,
    event: eventOf(decisions),
    changeText: first.changeText,
    lines: [...entered, ...lines.filter(line => !line.entered)],
  };
}

const ENTERED: ReadonlySet<string> = new Set(['enqueued', 'enqueued-as-dependency', 'enqueued-behind']);
const VERDICTS: ReadonlySet<string> = new Set(['trigger-matched', 'no-trigger-matched']);

/** A refusal outranks a match: a matching trigger is irrelevant once a requirement fails. */
function lineFrom(pipeline: string, decisions: readonly Decision[]): PipelineLine {
  const entry = decisions.find(({ code }) => ENTERED.has(code));
  if (entry !== undefined) {
    const verdict = decisions.find(({ code }) => code === 'trigger-matched');
    const after = decisions.filter(each => each !== verdict && each !== entry);
    return { pipeline, entered: true, reason: sentence(entry), after };
  }
  const refusals = decisions.filter(({ code }) => !VERDICTS.has(code));
  const decided = refusals[0] ?? decisions[0];
  const after = decisions.filter(each => each !== decided && !VERDICTS.has(each.code));
  return { pipeline, entered: false, reason: decided === undefined ? '' : sentence(decided), after };
}

/** The text without the change, event and pipeline, which the surrounding lines already name. */
function sentence({ text, changeText, pipeline, code }: Decision): string {
  const bare = text.startsWith(`${changeText} `) ? text.slice(changeText.length + 1) : text;
  if (!VERDICTS.has(code)) return bare;
  const verdict = bare.replace(/^[\w-]+: /, '');
  const mismatch = `not for pipeline ${pipeline}, `;
  return verdict.startsWith(mismatch) ? verdict.slice(mismatch.length) : verdict;
}

/** Verdicts begin with the kind of their event. */
function eventOf(decisions: readonly Decision[]): string {
  for (const { code, text } of decisions) {
    const [, kind] = VERDICTS.has(code) ? (/^([\w-]+): /.exec(text) ?? []) : [];
    if (kind !== undefined) return kind;
  }
  return decisions.some(({ code }) => code === 'event-refused') ? 'refused' : 'later';
}
