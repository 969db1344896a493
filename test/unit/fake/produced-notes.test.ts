import { appendFileSync, existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { NOT_PRODUCED_YET } from '../../setup/not-produced-yet.ts';
import { compareNotes, isWholeSuite } from '../../setup/produced-notes.ts';
import { missingFrom, promised } from '../../setup/vocabulary.ts';

const ROOT = path.resolve(import.meta.dirname, '../../..');

function directoryOf(notes: Iterable<string>): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'gatehouse-produced-test-'));
  appendFileSync(path.join(directory, '1'), [...notes].join('\n'));
  return directory;
}

/** As if a story had produced it. */
const asProduced = (wanted: Iterable<string>) =>
  [...wanted].map(each => each.replace(/^attribute /, 'attribute Build '));

test('a whole run fails for what is promised and produced by no story, and names it', () => {
  const notes = asProduced(promised());
  expect(compareNotes(directoryOf(notes), { isWhole: true, all: true, strict: true })).toEqual({
    lines: [],
    failed: false,
  });
  const less = notes.filter(note => !['kind JobExecution', 'attribute Build gatehouse.job'].includes(note));
  const directory = directoryOf(less);
  const { lines, failed } = compareNotes(directory, { isWhole: true, all: true, strict: true });
  expect(failed).toBe(true);
  expect(lines.slice(1)).toEqual(['  attribute gatehouse.job', '  kind JobExecution']);
  expect(existsSync(directory)).toBe(false);
  // Without any notes, too: stories that forget to take them do not pass.
  expect(compareNotes(directoryOf([]), { isWhole: true, all: true, strict: true })).toMatchObject({
    failed: true,
  });
});

test('a part of the suite proves nothing, and neither does a run in which something failed or was skipped', () => {
  expect(compareNotes(directoryOf([]), { isWhole: false, all: true, strict: true })).toEqual({
    lines: [],
    failed: false,
  });
  expect(compareNotes(directoryOf([]), { isWhole: true, all: false, strict: true })).toMatchObject({
    failed: false,
  });
  expect(isWholeSuite([path.join(ROOT, 'test/unit/fake/produced-notes.test.ts')])).toBe(false);
});

test('only what is promised can be excused', () => {
  const wanted = promised();
  expect(wanted.size).toBeGreaterThan(200);
  expect([...NOT_PRODUCED_YET].filter(each => !wanted.has(each))).toEqual([]);
  expect(missingFrom([], wanted, new Set())).toHaveLength(wanted.size);
});

test('what no story produced is named, and fails the run only where that is asked for', () => {
  const { lines, failed } = compareNotes(directoryOf([]), { isWhole: true, all: true, strict: false });
  expect(lines.length).toBeGreaterThan(1);
  expect(failed).toBe(false);
});
