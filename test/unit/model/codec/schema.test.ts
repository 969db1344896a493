import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { checkOf } from '../../../../src/model/codec/check.ts';
import { queueItemCodec } from '../../../../src/model/codec/records.ts';
import {
  byName,
  list,
  nonEmpty,
  nullable,
  object,
  optional,
  recursive,
  tagged,
  text,
  time,
  whole,
  words,
} from '../../../../src/model/codec/schema.ts';

interface Visit {
  readonly name: string;
  readonly tries: number;
  readonly remark?: string;
}

type Shape =
  | { readonly form: 'disc'; readonly radius: number }
  | { readonly form: 'box' | 'square'; readonly sides: readonly number[] };

interface Tree {
  readonly name: string;
  readonly below?: readonly Tree[];
}

const visit = object<Visit>({ name: text, tries: whole, remark: optional(text) });
const shape = tagged<Shape, 'form'>('form', {
  disc: { radius: whole },
  box: { sides: list(whole) },
  square: { sides: list(whole) },
});
const tree = recursive<Tree>('Tree of the test', self =>
  object<Tree>({ name: text, below: optional(list(self)) }),
);

describe('a schema that is not its type does not compile:', () => {
  test('a field is missing, is not known, or is of another type', () => {
    // @ts-expect-error tries is missing
    object<Visit>({ name: text, remark: optional(text) });
    // @ts-expect-error there is no such field
    object<Visit>({ name: text, tries: whole, remark: optional(text), more: text });
    // @ts-expect-error tries is a number
    object<Visit>({ name: text, tries: text, remark: optional(text) });
  });

  test('a field may be absent in one of the two alone', () => {
    // @ts-expect-error the type has it always
    object<Visit>({ name: optional(text), tries: whole, remark: optional(text) });
    // @ts-expect-error the type may lack it
    object<Visit>({ name: text, tries: whole, remark: text });
    // @ts-expect-error the type knows no null
    object<Visit>({ name: nullable(text), tries: whole, remark: optional(text) });
  });

  test('a word is missing or not known', () => {
    // @ts-expect-error cold is missing
    words<'warm' | 'cold'>({ warm: 1 });
    // @ts-expect-error there is no such word
    words<'warm' | 'cold'>({ warm: 1, cold: 1, hot: 1 });
    // @ts-expect-error the type has fewer words
    object<{ readonly state: 'warm' }>({ state: words<'warm' | 'cold'>({ warm: 1, cold: 1 }) });
    // @ts-expect-error the type has more words
    object<{ readonly state: 'warm' | 'cold' }>({ state: words<'warm'>({ warm: 1 }) });
  });

  test('a case of a union is missing', () => {
    // @ts-expect-error square is missing
    tagged<Shape, 'form'>('form', { disc: { radius: whole }, box: { sides: list(whole) } });
  });
});

describe('what is wrong is named with its place:', () => {
  test.each([
    [visit, { name: 'a', tries: 1 }, undefined],
    [visit, { name: 'a', tries: 1, remark: 'b', more: true }, undefined],
    [visit, { name: 'a' }, 'tries is missing'],
    [visit, { name: 'a', tries: -1 }, 'tries is -1, not a count'],
    [visit, { name: 'a', tries: 1, remark: null }, 'remark is null, not a text'],
    [visit, 7, 'it is 7, not an object'],
    [visit, [], 'it is a list, not an object'],
    [list(visit), [{ name: 'a', tries: 1 }, { name: {} }], '1.name is an object, not a text'],
    [nonEmpty(text), [], 'it is not a list that is not empty'],
    [byName(time), { a: '1', b: 'soon' }, 'b is "soon", not a time in nanoseconds'],
    [nullable(visit), null, undefined],
    [nullable(visit), { name: 'a', tries: '' }, 'tries is "", not a count'],
    [nullable(text), 7, 'it is 7, not a text'],
    [shape, { form: 'square', sides: [1] }, undefined],
    [shape, { form: 'disc', sides: [1] }, 'radius is missing'],
    [shape, { form: 'star' }, 'form is "star", not one of disc, box, square'],
    [shape, {}, 'form is missing'],
    [shape, 'disc', 'it is "disc", not an object'],
    [tree, { name: 'a', below: [{ name: 'b', below: [] }] }, undefined],
    [tree, { name: 'a', below: [{ name: 'b', below: [{}] }] }, 'below.0.below.0.name is missing'],
  ])('%#: %o', ({ node }, value, fault) => {
    expect(checkOf(node)(value)).toBe(fault);
  });
});

interface Golden {
  readonly nodes: readonly { readonly records?: readonly { readonly k: string; readonly d: unknown }[] }[];
}

/** Objects within a value, with their paths. */
function* objectsIn(value: unknown, at: string): Generator<readonly [string, Record<string, unknown>]> {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, inner] of Object.entries(value)) yield* objectsIn(inner, `${at}.${name}`);
  if (!Array.isArray(value)) yield [at, value as Record<string, unknown>];
}

test('an item with any one field overwritten is refused, with the place of the field', () => {
  const file = path.join(import.meta.dirname, '../../../golden/store-0.3.json');
  const golden: Golden = JSON.parse(readFileSync(file, 'utf8'));
  const [item] = golden.nodes
    .flatMap(({ records = [] }) => records)
    .filter(({ k }) => k === 'queue-item')
    .map(({ d }) => d)
    .toSorted((a, b) => JSON.stringify(b).length - JSON.stringify(a).length);
  const reasons = new Map<string, string>();
  for (const [at, owner] of objectsIn(item, ''))
    for (const [name, value] of Object.entries(owner)) {
      const place = `${at}.${name}`.replace(/\d+/g, '0');
      if (reasons.has(place)) continue;
      owner[name] = { foreign: [] };
      const bytes = new TextEncoder().encode(JSON.stringify({ k: 'queue-item', v: 2, d: item }));
      reasons.set(place, refusal(bytes));
      owner[name] = value;
    }
  expect(reasons.size).toBeGreaterThan(100);
  for (const [place, reason] of reasons)
    expect(reason, place).toMatch(
      /^RecordError: a queue-item record cannot be read: [\w.-]+ is (an object, not |a list, not |missing)/,
    );
});

function refusal(bytes: Uint8Array): string {
  try {
    queueItemCodec.decode(bytes);
    return 'accepted';
  } catch (error) {
    return String(error);
  }
}
