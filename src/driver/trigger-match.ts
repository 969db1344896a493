/** What the hosts' triggers have in common: every key that is written has to match, of its list one entry. Pure. */
import type { Nanoseconds } from '../lib/clock.ts';
import type { ChangeRecord } from '../model/change.ts';
import type { TriggerEvent } from '../model/event.ts';
import type { Json } from '../model/job.ts';
import type { CompiledPattern } from './pattern.ts';
import type { Verdict } from './verdict.ts';

/** The texts of an event that one key looks at; one that matches is enough. None: the event does not match. */
export interface TriggerFilter<Facts> {
  readonly key: string;
  readonly of: (event: TriggerEvent, facts: Facts) => readonly (string | null | undefined)[];
  /** Empty: the key is not written. */
  readonly entries: readonly CompiledPattern[];
}

/** @returns why the event is of another type, or a deletion that is ignored; undefined: it is of interest. */
export function eventMismatch(
  config: { readonly event: readonly string[]; readonly 'ignore-deletes'?: boolean | null },
  { type, change }: TriggerEvent,
): string | undefined {
  if (!config.event.includes(type)) return `event ${type} is not ${config.event.join(' or ')}`;
  if (config['ignore-deletes'] !== false && change.kind === 'ref' && change.newCommit === null)
    return `${change.ref} was deleted and deletions are ignored`;
  return undefined;
}

/** @returns met: a clause for each filter that is written, empty where none is; otherwise the first mismatch. */
export function matchFilters<Facts>(
  filters: readonly TriggerFilter<Facts>[],
  event: TriggerEvent,
  facts: Facts,
): Verdict {
  const said: string[] = [];
  for (const { key, of, entries } of filters.filter(each => each.entries.length > 0)) {
    const found = of(event, facts).filter(text => typeof text === 'string');
    const matched = firstMatch(found, entries);
    if (matched === undefined) return { met: false, text: mismatch(key, found, entries) };
    said.push(`${key} ${shown(key, [matched.text])} matches ${matched.entry.text}`);
  }
  return { met: true, text: said.join(', ') };
}

function firstMatch(
  texts: readonly string[],
  entries: readonly CompiledPattern[],
): { readonly text: string; readonly entry: CompiledPattern } | undefined {
  for (const text of texts) {
    const entry = entries.find(each => each.takes(text));
    if (entry !== undefined) return { text, entry };
  }
  return undefined;
}

function mismatch(key: string, found: readonly string[], entries: readonly CompiledPattern[]): string {
  const wanted = entries.map(({ text }) => text).join(' or ');
  if (found.length === 0) return `the event has no ${key}; wanted is ${wanted}`;
  return `${key} ${shown(key, found)} does not match ${wanted}`;
}

/** Comments are long, and their text is the author's; addresses are not for public pages. */
function shown(key: string, texts: readonly string[]): string {
  if (key === 'comment') return 'text';
  return key === 'email' ? 'address' : texts.join(', ');
}

type Judge = (requirement: Json, record: ChangeRecord, now: Nanoseconds) => Verdict;

/** What a trigger asks of the change: as the pipeline's own `require` and `reject`, at the time the event came in. */
export interface TriggerConditions {
  readonly require?: Json;
  readonly reject?: Json;
}

/** @param record of the event's change; undefined: none is known. @returns undefined: the change is what the trigger asks for. */
export function conditionMismatch(
  { require, reject }: TriggerConditions,
  { meets, rejects }: { readonly meets: Judge; readonly rejects: Judge },
  { receivedAt }: TriggerEvent,
  record: ChangeRecord | undefined,
): string | undefined {
  if (require === undefined && reject === undefined) return undefined;
  if (record === undefined) return 'the change is not known';
  const required = require === undefined ? undefined : meets(require, record, receivedAt);
  if (required?.met === false) return required.text;
  const rejected = reject === undefined ? undefined : rejects(reject, record, receivedAt);
  return rejected?.met === true ? `rejected: ${rejected.text}` : undefined;
}
