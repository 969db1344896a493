/**
 * The words that doc/glossary.md bans are not used: in comments, messages, test titles, names and pages.
 *
 * `ALLOWED_LINES` bounds the lines that still have one, per room. The bounds only go down; a room without one has none.
 */
import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { ALLOWED_LINES } from './allowed-lines.ts';
import { filesBelow, ROOT, sectionOf, textOf } from './repository-text.ts';

const GLOSSARY = 'doc/glossary.md';
const PLACES = [
  'src',
  'drivers',
  'test',
  'doc',
  'etc',
  'scripts',
  'bin',
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
];
const ENDINGS = ['.ts', '.js', '.mjs', '.md', '.txt', '.conf', '.yaml', '.html', '.css', '.sh'];
/** These name the words. */
const EXEMPT = new Set([GLOSSARY, 'test/unit/docs/plain-words.test.ts', 'test/unit/docs/allowed-lines.ts']);

interface Ban {
  readonly pattern: RegExp;
  readonly instead: string;
}

/** A whole word or phrase: not a part of an identifier, a path or a file name. */
const wholeWord = (words: string) =>
  new RegExp(`(?<![\\w/.-])(?:${words.split(/,\s*/).join('|')})(?![\\w/-]|\\.\\w)`, 'i');

/** The rows of the glossary's table `| not | but |`. */
function bans(): readonly Ban[] {
  const rows = sectionOf(textOf(GLOSSARY), 'Words we do not use').matchAll(/^\| ([^|]+) \| ([^|]+) \|$/gm);
  return [...rows]
    .filter(([, not]) => not !== 'not')
    .map(([, not = '', but = '']) => ({ pattern: wholeWord(not), instead: but }));
}

/** `src/<room>`, `test/unit/<room>`, `test/<folder>`, `doc/<folder>`; elsewhere the first part of the path. */
function roomOf(file: string): string {
  const parts = file.split('/');
  const depth = file.startsWith('test/unit/') ? 3 : /^(?:src|test|doc)\//.test(file) ? 2 : 1;
  return parts.slice(0, Math.min(depth, Math.max(1, parts.length - 1))).join('/');
}

function sources(): readonly string[] {
  return PLACES.filter(place => existsSync(path.join(ROOT, place)))
    .flatMap(place =>
      statSync(path.join(ROOT, place)).isDirectory()
        ? ENDINGS.flatMap(ending => filesBelow(place, ending))
        : [place],
    )
    .filter(file => !EXEMPT.has(file));
}

/** Whether backticks quote code in the line; in a program they are templates, which people read. */
function isProse(file: string, line: string): boolean {
  return !/\.(?:ts|m?js)$/.test(file) || /^\s*(?:\*|\/\/|\/\*)/.test(line);
}

/** `file:12: "told" → report, log`, one for each line with a banned word. */
function findings(file: string, text: string, banned: readonly Ban[]): readonly string[] {
  return text.split('\n').flatMap((line, at) => {
    const prose = isProse(file, line) ? line.replaceAll(/`[^`]*`/g, '``') : line;
    for (const { pattern, instead } of banned) {
      const word = pattern.exec(prose)?.[0];
      if (word !== undefined) return [`${file}:${at + 1}: "${word}" → ${instead}`];
    }
    return [];
  });
}

describe('plain words', () => {
  const banned = bans();
  const found = Object.groupBy(
    sources().flatMap(file =>
      findings(file, textOf(file), banned).map(text => ({ room: roomOf(file), text })),
    ),
    ({ room }) => room,
  );

  test('the glossary says what to write instead', () => {
    expect(banned.length).toBeGreaterThan(15);
    expect(findings('a.ts', 'log.warn(`somebody was quicker`); // told `nobody`', banned)).toEqual([
      expect.stringMatching(/^a\.ts:1: "somebody" → /),
    ]);
    expect(
      findings('b.ts', "import './told/whoever.ts'; toldSpans.told_parent; a round trip", banned),
    ).toEqual([]);
  });

  test.for([...new Set([...Object.keys(found), ...Object.keys(ALLOWED_LINES)])].toSorted())(
    '%s has no more of them than it is allowed',
    room => {
      const lines = found[room]?.map(({ text }) => text) ?? [];
      const allowed = ALLOWED_LINES[room] ?? 0;
      const shown = lines.length > allowed ? lines : [];
      expect(
        shown,
        `${room}: ${lines.length} lines with words that ${GLOSSARY} bans, ${allowed} allowed`,
      ).toEqual([]);
    },
  );
});

test('no text holds the marks of an unfinished merge', () => {
  const mark = /^(?:<{7}|>{7}) /m;
  expect(mark.test(`a\n${'<'.repeat(7)} HEAD\n`)).toBe(true);
  expect(sources().filter(file => mark.test(textOf(file)))).toEqual([]);
});
