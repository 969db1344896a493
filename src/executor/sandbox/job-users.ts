/**
 * Unix users for jobs, when the service is root: one per slot, so that builds can neither signal nor limit each other, and users of
 * its own for every executor of a host, because leftovers of a job without a sandbox are found by their user: with a shared one
 * the end of a build would kill the jobs of another executor.
 *
 * These numbers are assigned by no other program: 65 536 to 99 999 lie between the ranges of distributions and systemd for users
 * and services and the start of subordinate ids. A container that knows only 65 536 ids gets some near the end.
 *
 * Blocks of {@link BLOCK} users are claimed by listening on an abstract socket of that name: the kernel gives a name to one process
 * of a network namespace, and takes it back when the process ends, however it ends. An executor prefers the blocks that follow from
 * its `job_dir`, so that it mostly finds its kept checkouts owned by the same users again.
 */
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { sha256 } from '../../lib/ids.ts';

/** The users of one executor, its own until they are released or its process ends. */
export interface JobUsers {
  /** User (and group) id of slot 0; the others follow. */
  readonly first: number;
  /** False: everything was taken, or this system has no abstract sockets; another executor may have the same users. */
  readonly exclusive: boolean;
  release(): Promise<void>;
}

interface Range {
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
}

const USUAL: Range = { from: 65_600, to: 100_000 };
const NARROW: Range = { from: 60_600, to: 65_500 };
const BLOCK = 16;

/** @param jobDir of this executor alone. @param slots builds at a time. @param range of user ids that are assigned by nothing else. */
export async function claimJobUsers(
  jobDir: string,
  slots: number,
  { from, to }: Range = knows(USUAL) ? USUAL : NARROW,
): Promise<JobUsers> {
  const needed = Math.ceil(slots / BLOCK);
  const places = Math.max(1, Math.floor((to - from) / (needed * BLOCK)));
  const preferred = Number.parseInt(sha256(jobDir).slice(0, 8), 16) % places;
  for (let tried = 0; tried < places; tried += 1) {
    const first = from + ((preferred + tried) % places) * needed * BLOCK;
    const claims = await claimBlocks(first, needed);
    if (claims === 'impossible') break;
    if (claims !== 'taken') return { first, exclusive: true, release: () => close(claims) };
  }
  const first = from + preferred * needed * BLOCK;
  return { first, exclusive: false, release: () => Promise.resolve() };
}

/** All or none. */
async function claimBlocks(
  first: number,
  count: number,
): Promise<readonly Server[] | 'taken' | 'impossible'> {
  const claims: Server[] = [];
  for (let block = 0; block < count; block += 1) {
    const claim = await listenOn(`\0gatehouse-job-users-${first + block * BLOCK}`);
    if (typeof claim === 'string') {
      await close(claims);
      return claim;
    }
    claims.push(claim);
  }
  return claims;
}

function listenOn(path: string): Promise<Server | 'taken' | 'impossible'> {
  return new Promise(resolve => {
    // It exists for its name only.
    const server = createServer(connection => connection.destroy());
    server.once('error', error => {
      resolve('code' in error && error.code === 'EADDRINUSE' ? 'taken' : 'impossible');
    });
    server.listen({ path }, () => {
      server.unref();
      resolve(server);
    });
  });
}

async function close(claims: readonly Server[]): Promise<void> {
  await Promise.all(claims.map(claim => new Promise(resolve => claim.close(resolve))));
}

/** Whether all ids of the range exist in the user namespace we are in. */
function knows({ from, to }: Range): boolean {
  return mapping().some(({ start, count }) => start <= from && to <= start + count);
}

function mapping(): { readonly start: number; readonly count: number }[] {
  try {
    const lines = readFileSync('/proc/self/uid_map', 'latin1').trim().split('\n');
    return lines.map(line => {
      const [start = 0, , count = 0] = line.trim().split(/\s+/).map(Number);
      return { start, count };
    });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}
