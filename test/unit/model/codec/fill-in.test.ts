import { expect, test } from 'vitest';
import { fillInOf } from '../../../../src/model/codec/fill-in.ts';
import { recordCodec } from '../../../../src/model/codec/record.ts';
import { reportIntentCodec } from '../../../../src/model/codec/records.ts';
import {
  added,
  byName,
  list,
  nullable,
  object,
  optional,
  type Schema,
  tagged,
  text,
  whole,
} from '../../../../src/model/codec/schema.ts';
import { reportOf } from '../../../../src/scheduler/report/stored-report.ts';

interface Visit {
  readonly name: string;
  readonly tries: number;
  readonly length: number;
}

type Step =
  | { readonly kind: 'visit'; readonly visit: Visit }
  | { readonly kind: 'rest'; readonly name: string };

const visit = object<Visit>({
  name: text,
  tries: added(whole, () => 1),
  length: added(whole, ({ name }) => String(name).length),
});
const steps = list(tagged<Step, 'kind'>('kind', { visit: { visit }, rest: { name: text } }));

function decoded<T>(schema: Schema<T>, data: unknown): T {
  const bytes = new TextEncoder().encode(JSON.stringify({ k: 'test', v: 1, d: data }));
  return recordCodec('test', 1, schema).decode(bytes);
}

test('a field that came later is filled in where it is lacking, wherever its object is', () => {
  const full = { name: 'abc', tries: 1, length: 3 };
  expect(decoded(visit, { name: 'abc' })).toEqual(full);
  expect(decoded(visit, { name: 'abc', tries: 7 })).toEqual({ ...full, tries: 7 });
  expect(decoded(nullable(visit), null)).toBeNull();
  expect(decoded(nullable(visit), { name: 'abc' })).toEqual(full);
  const outer = object<{ readonly visit?: Visit }>({ visit: optional(visit) });
  expect(decoded(outer, {})).toEqual({});
  expect(decoded(outer, { visit: { name: 'abc' } })).toEqual({ visit: full });
  expect(
    decoded(steps, [
      { kind: 'rest', name: 'abc' },
      { kind: 'visit', visit: { name: 'abc' } },
    ]),
  ).toEqual([
    { kind: 'rest', name: 'abc' },
    { kind: 'visit', visit: full },
  ]);
});

test('a field that came later must be right where it is there', () => {
  expect(() => decoded(visit, { name: 'abc', tries: 'many' })).toThrow('tries is "many", not a count');
});

test('nothing is visited where nothing may be lacking', () => {
  expect(fillInOf(list(object<{ readonly name: string }>({ name: text })).node)).toBeUndefined();
});

test('a field that came later is refused where it would not be filled in', () => {
  expect(() => fillInOf(byName(visit).node)).toThrow(RangeError);
});

test('of a report that 0.3 requested the text is known, and nothing that is not', () => {
  const old = {
    uuid: '1'.repeat(32),
    tenant: 'acme',
    pipeline: 'gate',
    item: '2'.repeat(32),
    action: 'success',
    result: 'SUCCESS',
    requestedAt: '1795200000000000000',
    message: 'Build succeeded (gate).\n\n- unit: SUCCESS',
    url: 'http://localhost/t/acme/item/2',
    parts: [],
  };
  const bytes = new TextEncoder().encode(JSON.stringify({ k: 'report-intent', v: 1, d: old }));
  expect(reportOf(reportIntentCodec.decode(bytes))).toMatchObject({
    headline: 'Build succeeded (gate).',
    text: old.message,
    changes: [],
    jobs: [],
    place: { tenant: 'acme', pipeline: 'gate', queue: null },
  });
});
