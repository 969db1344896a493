/** Texts with replacement fields in Python's form. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseFormat } from '../../../src/lib/format-text.ts';

const FIELDS = {
  pipeline: { '': '', name: '' },
  change: { '': '', number: '' },
  changes: [{ '': '', number: '' }],
  item_url: '',
};
const ONE = { '': 'acme/app 1,2', number: '1' };
const TWO = { '': 'acme/app 2,1', number: '2' };
const VALUES = {
  pipeline: { '': 'gate', name: 'gate' },
  change: ONE,
  changes: [ONE, TWO],
  item_url: 'http://gate/t/acme/item/1',
};

test.each([
  ['Starting {pipeline.name} jobs: {item_url}', 'Starting gate jobs: http://gate/t/acme/item/1'],
  ['{pipeline} {change}', 'gate acme/app 1,2'],
  ['{changes}', 'acme/app 1,2 acme/app 2,1'],
  ['{change.number} {changes[0].number} {changes[1].number} {changes[7].number}!', '1 1 2 !'],
  ['{{literal}} {{{pipeline}}}', '{literal} {gate}'],
  ['no fields', 'no fields'],
  ['', ''],
])('%s', (text, shown) => {
  const format = parseFormat(text, FIELDS);
  expect(format.kind === 'format' ? format.fill(VALUES) : format.reason).toBe(shown);
});

test.each([
  [
    '{piepline}',
    '{piepline} is no replacement field; known are pipeline, pipeline.name, change, change.number, changes, changes[0].number, item_url',
  ],
  ['{change.__class__}', '{change.__class__} is no replacement field'],
  ['{change[0]}', '{change[0]} is no replacement field'],
  ['{constructor}', '{constructor} is no replacement field'],
  ['{pipeline!r}', '{pipeline!r} is no replacement field'],
  ['{pipeline:>10}', '{pipeline:>10} is no replacement field'],
  ['{}', '{} is no replacement field'],
  ['a } b', 'a single "}" is not allowed; write "}}" for the character'],
  ['a { b', 'a single "{" is not allowed; write "{{" for the character'],
])('%s is a mistake', (text, reason) => {
  expect(parseFormat(text, FIELDS)).toMatchObject({
    kind: 'invalid',
    reason: expect.stringContaining(reason),
  });
});

test('any text with its braces doubled means itself', () => {
  fc.assert(
    fc.property(fc.string(), text => {
      const format = parseFormat(text.replace(/[{}]/g, '$&$&'), FIELDS);
      expect(format.kind === 'format' ? format.fill(VALUES) : format.reason).toBe(text);
    }),
    { seed: 1 },
  );
});
