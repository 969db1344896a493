/** The files that a build left, as they are kept: their list, and where each is. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { parseUuid } from '../../lib/ids.ts';
import type { KeptFile, KeptFiles } from '../../model/kept-files.ts';
import { openPlainFile } from '../open-plain-file.ts';

/** @throws RangeError for anything but a uuid: the name comes from a URL. */
export function filesDirectoryOf(logDir: string, build: string): string {
  return join(logDir, parseUuid(build), 'files');
}

/** @throws RangeError for anything but a hash and a uuid. */
export function keptFileOf(logDir: string, build: string, sha256: string): string {
  if (!/^[0-9a-f]{64}$/.test(sha256)) throw new RangeError('not a SHA-256');
  return join(filesDirectoryOf(logDir, build), `${sha256}.gz`);
}

/** Where the list of a build's files is. */
export function listOf(logDir: string, build: string): string {
  return join(logDir, parseUuid(build), 'files.json');
}

/** Where contents are that builds share. */
export const BLOBS = '.blobs';

/** @returns undefined: the build has not ended, left nothing, or is not of this directory. */
export async function readKeptFiles(logDir: string, build: string): Promise<KeptFiles | undefined> {
  try {
    return parseKeptFiles(await readFile(listOf(logDir, build), 'utf8'));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Compressed by gzip. @returns undefined: there is no such file of the build. */
export async function openKept(logDir: string, build: string, sha256: string): Promise<Readable | undefined> {
  const file = await openPlainFile(keptFileOf(logDir, build, sha256));
  return file?.createReadStream();
}

/** @throws Error for anything that is not written by us. */
export function parseKeptFiles(text: string): KeptFiles {
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null || !('files' in value) || !Array.isArray(value.files))
    throw new Error('the list of kept files is malformed');
  return { files: value.files.map(parseKeptFile) };
}

function parseKeptFile(value: unknown): KeptFile {
  const { path, bytes, sha256, modified }: { [name: string]: unknown } = Object(value);
  if (typeof path !== 'string' || typeof bytes !== 'number' || typeof modified !== 'number')
    throw new Error('the list of kept files is malformed');
  if (typeof sha256 !== 'string' || !/^[0-9a-f]{64}$/.test(sha256))
    throw new Error('the list of kept files is malformed');
  return { path, bytes, sha256, modified };
}
