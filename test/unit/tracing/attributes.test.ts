import { expect, test } from 'vitest';
import { CULPRIT_FACTS, EVENT_FACTS } from '../../../src/tracing/allowed-attributes.ts';
import { ATTRIBUTE } from '../../../src/tracing/attributes.ts';

/** Of spans, span events and links. */
const NAMES = [
  ...new Set<string>([...Object.values(ATTRIBUTE), ...EVENT_FACTS.values(), ...CULPRIT_FACTS.values()]),
];

test('no attribute has the name of a namespace', () => {
  expect(NAMES.filter(name => NAMES.some(other => other.startsWith(`${name}.`)))).toEqual([]);
});

test('names are lower case words in snake_case, joined by dots', () => {
  expect(NAMES.filter(name => !/^[a-z]+(?:_[a-z]+)*(?:\.[a-z]+(?:_[a-z]+)*)+$/.test(name))).toEqual([]);
});
