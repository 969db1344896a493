/**
 * JSON of a large document, made in parts between which the event loop has its turn: the text of five thousand items takes longer than
 * a heartbeat may wait.
 */
import { nextTurn, turnIsUsed } from './turns.ts';

/** Levels of lists and objects that are made part by part; what is deeper is made at once. */
const DEPTH = 7;

/** The same text as of `JSON.stringify`. @param value plain data: no functions, no `toJSON`. */
export async function jsonInTurns(value: unknown): Promise<string> {
  const parts: string[] = [];
  for (const part of partsOf(value, DEPTH)) {
    parts.push(part);
    if (turnIsUsed()) await nextTurn();
  }
  return parts.join('');
}

function* partsOf(value: unknown, depth: number): Generator<string> {
  if (typeof value !== 'object' || value === null || depth === 0) {
    yield JSON.stringify(value) ?? 'null';
    return;
  }
  const isList = Array.isArray(value);
  yield isList ? '[' : '{';
  let separator = '';
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined && !isList) continue;
    yield isList ? separator : `${separator}${JSON.stringify(name)}:`;
    yield* partsOf(member, depth - 1);
    separator = ',';
  }
  yield isList ? ']' : '}';
}
