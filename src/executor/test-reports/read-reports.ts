/** Reads the results of tests that a job left below a directory; called in a thread of its own (`reports-thread.ts`). */
import type { FileHandle } from 'node:fs/promises';
import { StringDecoder } from 'node:string_decoder';
import type { TestName } from '../../model/watched-tests.ts';
import { type WalkedFile, walkFiles } from '../log-store/walk-files.ts';
import { GO_TEST } from './read-go-test.ts';
import { JUNIT } from './read-junit.ts';
import { TAP } from './read-tap.ts';
import type { ReportFormat, ReportReader } from './report-reader.ts';
import { type CaseCollector, type CollectedTests, collectCases } from './test-cases.ts';

const FORMATS: readonly ReportFormat[] = [JUNIT, TAP, GO_TEST];
const MOST_FILES = 1_000;
const MOST_BYTES_PER_FILE = 33_554_432;
const MOST_BYTES = 134_217_728;
const CHUNK = 65_536;

/** Written by our own plugin for Ansible, in most builds: no reason to start the thread. */
const OWN_FILE = 'job-output.json';

/** Whether a file may have results of tests, by its name alone. */
export function mayReport(name: string): boolean {
  return name !== OWN_FILE && FORMATS.some(({ named }) => named.test(name));
}

/** @param watched whose passes are collected. @throws Error of the file system. */
export async function readReports(
  directory: string,
  watched: readonly TestName[] = [],
): Promise<CollectedTests> {
  const cases = collectCases(watched);
  let files = 0;
  let room = MOST_BYTES;
  for await (const file of walkFiles(directory, () => {}, mayReport)) {
    try {
      files += 1;
      if (files > MOST_FILES || room <= 0) {
        cases.problem(`only the first ${MOST_FILES} files or ${MOST_BYTES} bytes were read`);
        break;
      }
      room -= await readFile(cases, file, Math.min(room, MOST_BYTES_PER_FILE));
    } finally {
      await file.handle.close();
    }
  }
  return cases.end();
}

/** @returns bytes read. */
async function readFile(cases: CaseCollector, { path, handle }: WalkedFile, most: number): Promise<number> {
  const decoder = new StringDecoder('utf8');
  const buffer = Buffer.alloc(CHUNK);
  let reader: ReportReader | undefined;
  let read = 0;
  try {
    for (;;) {
      const { bytesRead } = await handle.read(buffer, 0, CHUNK, read);
      if (bytesRead === 0) break;
      const text = decoder.write(buffer.subarray(0, bytesRead));
      if (read === 0) reader = await readerFor(cases, path, text, handle);
      if (reader === undefined) return bytesRead;
      read += bytesRead;
      if (read > most) throw new Error('it is too long');
      reader.write(text);
    }
    reader?.end();
  } catch (error) {
    cases.problem(`${path} was not read to its end: ${error instanceof Error ? error.message : error}`);
  }
  return read;
}

async function readerFor(
  cases: CaseCollector,
  path: string,
  head: string,
  handle: FileHandle,
): Promise<ReportReader | undefined> {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const format = FORMATS.find(({ named, isIn }) => named.test(name) && isIn(head.replace(/^\ufeff/, '')));
  if (format === undefined) return undefined;
  cases.file((await handle.stat()).mtimeMs);
  return format.reader(cases, path);
}
