/**
 * What the real service said in the stories of a run: kinds of spans, their attributes and codes, span events, decisions.
 * Each process appends what is new to it to a file of its own; when the whole suite ran, the run compares all of it with what the
 * tables and the documentation promise (`test/setup/vocabulary.ts`).
 *
 * Only for spans that a running service sent: records made by hand prove nothing.
 */
import { appendFileSync, existsSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { SinkSpan } from '../otlp-sink.ts';

/** Directory of this run's notes; absent: the run takes none. */
export const NOTES_VARIABLE = 'GATEHOUSE_TEST_NOTES';

/** Attributes whose values are codes out of a table. */
const CODED = new Set([
  'gatehouse.result',
  'gatehouse.leave.code',
  'gatehouse.superseded.code',
  'gatehouse.wait.state',
]);

const noted = new Set<string>();

/** @param state state directory of the service, when its history is there. */
export function noteStory(spans: readonly SinkSpan[], state?: string): void {
  const directory = process.env[NOTES_VARIABLE];
  if (directory === undefined) return;
  const notes = [...spans.flatMap(notesOfSpan), ...(state === undefined ? [] : notesOfHistory(state))];
  const fresh = [...new Set(notes)].filter(note => !noted.has(note));
  for (const note of fresh) noted.add(note);
  if (fresh.length > 0) appendFileSync(path.join(directory, `${process.pid}`), `${fresh.join('\n')}\n`);
}

function notesOfSpan(span: SinkSpan): readonly string[] {
  const label = String(span.attributes['gatehouse.span.type']);
  const kind = /^(?!Connection|Management|Internal|Tenant)[A-Z][a-z]+Event$/.test(label)
    ? 'ConnectionEvent'
    : label;
  return [
    `kind ${kind}`,
    ...Object.keys(span.attributes).map(name => `attribute ${kind} ${name}`),
    ...codesOf(span),
    ...span.events.map(event => `event ${event.name}`),
  ];
}

function codesOf({ attributes }: SinkSpan): readonly string[] {
  return Object.entries(attributes).flatMap(([name, value]) =>
    CODED.has(name) ? [`code ${name} ${String(value)}`] : [],
  );
}

function notesOfHistory(state: string): readonly string[] {
  const file = path.join(state, 'history.sqlite');
  if (!existsSync(file)) return [];
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const rows = database
      .prepare("select distinct json_extract(document, '$.code') as code from decision")
      .all();
    return rows.map(({ code }) => `decision ${String(code)}`);
  } finally {
    database.close();
  }
}
