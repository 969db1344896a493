/**
 * The classes of a server as Java maps them into memory, in place of reading and checking them at each start: a server starts with 0.28 s of a processor
 * in place of 0.42, and a run starts thirty.
 */
import { createHash } from 'node:crypto';
import { existsSync, realpathSync } from 'node:fs';
import { mkdir, rename } from 'node:fs/promises';
import path from 'node:path';
import type { FoundServer } from './find-server.ts';

const FOLDER = path.resolve(import.meta.dirname, '../../../node_modules/.cache/zookeeper');

/** Options of Java that use the archive, where there is one. Java leaves out one that does not fit its version or the class path. */
export function sharedArchive(found: FoundServer): readonly string[] {
  const file = archiveOf(found);
  return existsSync(file) ? ['-Xlog:disable', `-XX:SharedArchiveFile=${file}`] : [];
}

/**
 * Makes the archive unless there is one.
 *
 * @param run starts a server with these options, waits until it serves, ends it with SIGTERM, and waits until it is gone.
 */
export async function makeSharedArchive(
  found: FoundServer,
  run: (javaOptions: readonly string[]) => Promise<void>,
): Promise<void> {
  const file = archiveOf(found);
  if (existsSync(file)) return;
  await mkdir(FOLDER, { recursive: true });
  const draft = `${file}.${process.pid}`;
  await run(['-Xlog:disable', `-XX:ArchiveClassesAtExit=${draft}`]);
  // A Java that makes none does without.
  if (existsSync(draft)) await rename(draft, file);
}

function archiveOf({ java, classPath, description }: FoundServer): string {
  const key = createHash('sha256').update([realpathSync(java), classPath, description].join('\n'));
  return path.join(FOLDER, `${key.digest('hex').slice(0, 16)}.jsa`);
}
