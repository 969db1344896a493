/** Where a run keeps the notes of what its stories produced, and how it compares them at its end. */
import { globSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { NOTES_VARIABLE } from '../fake/produced/note-story.ts';
import { missingFrom } from './vocabulary.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');

/** For the processes of the tests, which inherit the environment. @returns the directory. */
export function takeNotes(): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'gatehouse-produced-'));
  process.env[NOTES_VARIABLE] = directory;
  return directory;
}

/** @param files of the run, with their whole paths. */
export function isWholeSuite(files: readonly string[]): boolean {
  const run = new Set(files);
  return globSync('test/**/*.test.ts', { cwd: ROOT }).every(file => run.has(path.join(ROOT, file)));
}

export interface RunOutcome {
  /** No test was left out by file or by name. */
  readonly isWhole: boolean;
  /** Every test ran, and passed. */
  readonly all: boolean;
  /** A name that no story produced fails the run; else it is only listed. */
  readonly strict: boolean;
}

/** Removes the notes. */
export function compareNotes(
  directory: string,
  { isWhole, all, strict }: RunOutcome,
): { readonly lines: readonly string[]; readonly failed: boolean } {
  const notes = readdirSync(directory).flatMap(name =>
    readFileSync(path.join(directory, name), 'utf8').split('\n'),
  );
  rmSync(directory, { recursive: true });
  if (!isWhole) return { lines: [], failed: false };
  if (!all)
    return {
      lines: ['what stories produced is not compared with the documentation: not all tests passed'],
      failed: false,
    };
  const missing = missingFrom(notes);
  if (missing.length === 0) return { lines: [], failed: false };
  const head = `${strict ? 'FAILED: ' : ''}${missing.length} things are documented, and no story of the real service produced them:`;
  return { lines: [head, ...missing.map(each => `  ${each}`)], failed: strict };
}
