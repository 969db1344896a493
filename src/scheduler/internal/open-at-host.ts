/**
 * Open changes of projects that no event was about: their host knows them, the change cache does not. Asked when the gate has merged a
 * change of a project, because all others of it may be concerned.
 *
 * The host lists numbers, a page at a time; what is not known is read, a few at a time. What was read is written to the cache in the commits
 * that make the events, so that the next merge reads only the rest.
 */
import type { Connection } from '../../driver/connection.ts';
import { type Clock, millisecondsBetween } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { ChangeKey, ChangeRecord } from '../../model/change.ts';
import type { InternalEvent } from '../../model/internal-event.ts';
import { type ConnectionName, type ProjectKey, projectIdOf } from '../../model/project.ts';
import type { ChangeCache } from '../changes/change-cache.ts';
import { isRemoteFault } from '../remote-fault.ts';

/** Read for one merge. */
const MOST_READ = 500;
const READ_AT_ONCE = 8;

/** Milliseconds for which a host that does not serve is asked again. */
export const LONGEST_WAIT = 3_600_000;

/** By key: what hosts know and the cache does not. */
export type Besides = ReadonlyMap<ChangeKey, ChangeRecord>;

export type AskedHosts =
  /** `unread`: changes beyond the bound, of which the number alone is known. */
  | { readonly kind: 'asked'; readonly besides: Besides; readonly unread: number }
  /** To be asked again. */
  | { readonly kind: 'away'; readonly error: unknown };

interface AskHostsDeps {
  readonly changes: Pick<ChangeCache, 'record' | 'mark' | 'changedSince' | 'fresh'>;
  readonly connections: ReadonlyMap<ConnectionName, Pick<Connection, 'source'>>;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Pick<Log, 'warn'>;
}

/**
 * A project whose host has been away for an hour counts with the changes that are known.
 *
 * @param most changes of a project that the host is to list.
 */
export async function askHosts(
  { projects, queuedAt }: Pick<InternalEvent, 'projects' | 'queuedAt'>,
  most: number,
  deps: AskHostsDeps,
  signal: AbortSignal,
): Promise<AskedHosts> {
  const { changes: cache, clock, log } = deps;
  const begun = cache.mark();
  const records: ChangeRecord[] = [];
  let unread = 0;
  for (const project of projects) {
    try {
      const found = await openBesides(project, { most, room: MOST_READ - records.length }, deps, signal);
      records.push(...found.records);
      unread += found.unread;
    } catch (error) {
      signal.throwIfAborted();
      if (!isRemoteFault(error)) throw error;
      if (millisecondsBetween(queuedAt, clock.now()) <= LONGEST_WAIT) return { kind: 'away', error };
      log.warn(
        { err: error, project },
        'a merge concerns known changes alone: their host was away for an hour',
      );
    }
  }
  await cache.fresh();
  // A record that an event has brought meanwhile is as new.
  const besides = records.filter(({ change }) => !cache.changedSince(begun, [change.key]));
  return { kind: 'asked', besides: new Map(besides.map(record => [record.change.key, record])), unread };
}

/** @throws when the host does not serve. */
async function openBesides(
  project: ProjectKey,
  { most, room }: { readonly most: number; readonly room: number },
  { changes: cache, connections }: AskHostsDeps,
  signal: AbortSignal,
): Promise<{ readonly records: readonly ChangeRecord[]; readonly unread: number }> {
  const source = connections.get(projectIdOf(project).connection)?.source;
  const listed = await source?.openChanges?.(project, most, signal);
  if (source === undefined || listed === undefined) return { records: [], unread: 0 };
  const unknown = listed.changes.filter(key => cache.record(key) === undefined);
  const records = await readAll(unknown.slice(0, room), source, signal);
  return { records, unread: Math.max(0, unknown.length - room) };
}

async function readAll(
  keys: readonly ChangeKey[],
  source: Connection['source'],
  signal: AbortSignal,
): Promise<readonly ChangeRecord[]> {
  const read: ChangeRecord[] = [];
  for (let at = 0; at < keys.length; at += READ_AT_ONCE) {
    const part = keys.slice(at, at + READ_AT_ONCE);
    const found = await Promise.all(part.map(key => source.fetchChange(key, signal)));
    read.push(...found.filter(record => record !== undefined));
  }
  return read;
}
