/**
 * Holds captures of a real Gerrit against the forms that the fake has to satisfy, and that the driver relies on:
 *
 *     node test/gerrit/walk-captures.ts DIR
 *
 * DIR has events as JSON lists, as lines `{ at, event }` (*.jsonl), rows of `gerrit query --format=JSON`, and answers as `{ request: { method, path }, status, body }`.
 * Exits with 1 where something differs.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { answerViolations, eventViolations, queryRowViolations } from './fake/schema/judge-shapes.ts';

interface Tally {
  events: number;
  answers: number;
  /** Of `gerrit query`. */
  rows: number;
  /** Answers whose form the driver does not rely on. */
  others: number;
  readonly violations: string[];
}

const [directory] = process.argv.slice(2);
if (directory === undefined) throw new Error('usage: node test/gerrit/walk-captures.ts DIR');

const tally: Tally = { events: 0, answers: 0, rows: 0, others: 0, violations: [] };
for (const file of readdirSync(directory, { recursive: true, encoding: 'utf8' }).toSorted()) {
  const text = /\.jsonl?$/.test(file) ? readFileSync(join(directory, file), 'utf8') : '';
  if (file.endsWith('.jsonl'))
    for (const line of text.split('\n')) if (line !== '') walk(file, JSON.parse(line));
  if (file.endsWith('.json')) walk(file, JSON.parse(text));
}
const { events, answers, rows, others, violations } = tally;
for (const violation of violations) process.stdout.write(`${violation}\n`);
process.stdout.write(
  `${events} events, ${answers} answers, ${rows} rows of queries, ${others} answers of no interest, ${violations.length} violations\n`,
);
process.exitCode = violations.length > 0 ? 1 : 0;

function walk(file: string, value: unknown): void {
  if (Array.isArray(value)) for (const each of value) walk(file, each);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
  if ('eventCreatedOn' in value) {
    // Added by the recording.
    const { after_ms: _, ...event } = value as { readonly after_ms?: number };
    tally.events += 1;
    tally.violations.push(...eventViolations(event).map(each => `${file}: ${each}`));
  } else if ('lastUpdated' in value && 'createdOn' in value) {
    tally.rows += 1;
    tally.violations.push(...queryRowViolations(value).map(each => `${file}: ${each}`));
  } else if ('request' in value && 'status' in value) walkAnswer(file, value as never);
  else for (const each of Object.values(value)) walk(file, each);
}

function walkAnswer(
  file: string,
  {
    request,
    status,
    body,
  }: {
    readonly request: { readonly method: string; readonly path: string };
    readonly status: number;
    readonly body: unknown;
  },
): void {
  const found = answerViolations({ ...request, status, body });
  if (found === undefined) tally.others += 1;
  else tally.answers += 1;
  tally.violations.push(...(found ?? []).map(each => `${file}: ${each}`));
}
