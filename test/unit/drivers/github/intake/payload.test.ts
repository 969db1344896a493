/** Reading single fields of a payload gives what parsing all of it would. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { payloadFields, readPayload } from '../../../../../drivers/github/intake/payload.ts';

const FIELDS = payloadFields(['a', 'b.a', 'b.c.a']);

function read(text: string): readonly unknown[] | undefined {
  const payload = readPayload(text, FIELDS);
  return payload === undefined ? undefined : ['a', 'b.a', 'b.c.a'].map(path => payload.get(path));
}

/** The same of the parsed text. */
function parsed(text: string): readonly unknown[] {
  const value: unknown = JSON.parse(text);
  const b = member(value, 'b');
  return [member(value, 'a'), member(b, 'a'), member(member(b, 'c'), 'a')];
}

function member(value: unknown, name: string): unknown {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject && Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined;
}

// Not `"` or `\\` alone: Node 24 may take one for the other as the name of a member (V8's JSON.parse), which no payload has.
const name = fc.constantFrom('a', 'b', 'c', 'q"', 'b\\', 'é', '__proto__', '{');
const { value: anyValue } = fc.letrec(tie => ({
  value: fc.oneof(
    { depthSize: 'medium' },
    fc.constantFrom(null, true, 0, -1.5e30, '', 'x', '\\', '"', '\\"', '},{"a":1', '\u{1f600}', 'é'),
    fc.dictionary(name, tie('value'), { maxKeys: 6 }),
    fc.array(tie('value'), { maxLength: 4 }),
  ),
}));

test('fields of any object are found, however it is spaced', () => {
  const object = fc.dictionary(name, anyValue, { maxKeys: 8 });
  fc.assert(
    fc.property(object, fc.constantFrom('', ' ', '\t', '\r\n '), (payload, space) => {
      const text = `${space}${JSON.stringify(payload, null, space)}${space}`;
      expect(read(text)).toEqual(parsed(text));
    }),
    { numRuns: 100 },
  );
});

test.each([
  '{"a": 1, "a": 2}',
  '{"b": {"a": 1, "c": {"a": 2}}, "b": {"a": 3}}',
  '{"b": {"a": 1, "c": {"a": 2}}, "b": null}',
  '{"b": {"a": 1}, "b": [{"a": 2}]}',
])('of %s, the last one counts', text => {
  expect(read(text)).toEqual(parsed(text));
});

describe('a text is refused that is', () => {
  test.each([
    '',
    '[]',
    'null',
    '{',
    '{"a"',
    '{"a":',
    '{"a": 1',
    '{"a": 1,}',
    '{"a": 1}}',
    '{"a": 1} x',
    '{"a": nope}',
    '{"b": {"a": 1}',
    '{"b": {a: 1}}',
    '{"z": "}',
    '{"z": [1}',
    '\u{feff}{}',
  ])('%s', text => {
    expect(read(text)).toBeUndefined();
  });

  test('an object with a field of more than a megabyte', () => {
    expect(read(JSON.stringify({ z: 'x'.repeat(2 ** 20), a: 'x' }))).toEqual(['x', undefined, undefined]);
    expect(read(JSON.stringify({ a: 'x'.repeat(2 ** 20) }))).toBeUndefined();
  });
});

test('a field that was not read is no field that is missing', () => {
  expect(() => readPayload('{}', FIELDS)?.get('b.c')).toThrow('b.c was not read');
});
