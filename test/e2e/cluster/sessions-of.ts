/** Which sessions of a ZooKeeper server belong to which process: by their sockets, as the kernel knows them. */
import { readdir, readFile, readlink } from 'node:fs/promises';
import { connect } from 'node:net';

/** Ids as `Stat.ephemeralOwner` has them. */
export async function sessionsOf(
  pid: number,
  server: { readonly port: number },
): Promise<ReadonlySet<string>> {
  const [ports, connections] = await Promise.all([localPorts(pid), fourLetterWord(server.port, 'cons')]);
  const sessions = new Set<string>();
  for (const line of connections.split('\n')) {
    const found = /:(\d+)\[\d+\]\(.*\bsid=0x([0-9a-f]+)/.exec(line);
    if (found !== null && ports.has(Number(found[1]))) sessions.add(found[2] ?? '');
  }
  return sessions;
}

function fourLetterWord(port: number, word: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port });
    let text = '';
    socket.setEncoding('utf8');
    socket.on('connect', () => socket.write(word));
    socket.on('data', data => {
      text += data;
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(text));
  });
}

async function localPorts(pid: number): Promise<ReadonlySet<number>> {
  const folder = `/proc/${pid}/fd`;
  const inodes = new Set<string>();
  for (const name of await readdir(folder)) {
    const target = await readlink(`${folder}/${name}`).catch(() => ''); // closed meanwhile
    const found = /^socket:\[(\d+)\]$/.exec(target);
    if (found?.[1] !== undefined) inodes.add(found[1]);
  }
  const tables = await Promise.all(['tcp', 'tcp6'].map(name => readFile(`/proc/net/${name}`, 'utf8')));
  const ports = new Set<number>();
  for (const line of tables.flatMap(table => table.split('\n').slice(1))) {
    const fields = line.trim().split(/\s+/);
    const [, local = ''] = fields;
    if (inodes.has(fields[9] ?? '')) ports.add(Number.parseInt(local.slice(local.lastIndexOf(':') + 1), 16));
  }
  return ports;
}
