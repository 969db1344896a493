/** What a ZooKeeper has done since its start, as it says itself, and its processor time. */
import { readFile } from 'node:fs/promises';
import type { ZooKeeperServer } from '../fake/zookeeper/server.ts';

/** Of `/proc`, each second. */
export const TICKS = 100;

/** Of a server, since its start. */
export async function storeTraffic(zookeeper: ZooKeeperServer) {
  const [summary, counters] = [await zookeeper.ask('srvr'), await zookeeper.ask('mntr')];
  const stat = await readFile(`/proc/${zookeeper.pid()}/stat`, 'latin1');
  // The name, in parentheses, may contain anything.
  const [user, system] = stat
    .replace(/^.*\) /s, '')
    .split(' ')
    .slice(11, 13)
    .map(Number);
  return {
    // The upper half is the epoch.
    writes: number(summary, /^Zxid: (0x[0-9a-f]+)$/m) % 2 ** 32,
    received: number(summary, /^Received: (\d+)$/m),
    bytes: number(counters, /^zk_bytes_received_count\s+(\d+)$/m),
    ticks: (user ?? Number.NaN) + (system ?? Number.NaN),
  };
}

function number(text: string | undefined, pattern: RegExp): number {
  const found = pattern.exec(text ?? '')?.[1];
  if (found === undefined) throw new Error(`ZooKeeper does not say ${pattern}: ${text}`);
  return Number(found);
}
