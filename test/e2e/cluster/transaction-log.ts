/**
 * Reads ZooKeeper's own transaction log while the server writes it: every write there was, in order, with the session that
 * asked for it. What a client believes does not matter here.
 *
 *     using log = await openTransactionLog(dataDirectory);
 *     log.onTransaction(({ session, operations }) => …);
 *     (await log.read()).filter(each => each.session === session && each.zxid > before)     // written since
 *
 * Format (server 3.8): a file `version-2/log.<zxid>` begins with 16 bytes of header; then, per transaction, checksum (8 bytes),
 * length (4), header and body in jute, `B`. The rest of the file is zeros that were allocated in advance.
 */
import { type FSWatcher, watch } from 'node:fs';
import { mkdir, open, readdir } from 'node:fs/promises';
import path from 'node:path';

export type LoggedOperation =
  | { readonly kind: 'create'; readonly path: string; readonly data: Buffer; readonly ephemeral: boolean }
  | { readonly kind: 'set'; readonly path: string; readonly data: Buffer; readonly version: number }
  | { readonly kind: 'delete'; readonly path: string }
  | { readonly kind: 'check'; readonly path: string };

export interface LoggedTransaction {
  /** As `Stat.ephemeralOwner` has it. */
  readonly session: string;
  readonly zxid: bigint;
  /** Milliseconds since the epoch, by the server's clock. */
  readonly at: number;
  readonly kind: 'write' | 'refused' | 'session-begins' | 'session-ends' | 'other';
  /** Empty unless `write`. */
  readonly operations: readonly LoggedOperation[];
}

export interface TransactionLog extends Disposable {
  /** As far as read. */
  readonly transactions: readonly LoggedTransaction[];
  read(): Promise<readonly LoggedTransaction[]>;
  /** Called with each new one, soon after the server wrote it. */
  onTransaction(listener: (transaction: LoggedTransaction) => void): Disposable;
}

const HEADER_BYTES = 16;
/** Bytes read at a time; larger than any transaction. */
const CHUNK = 4 * 1024 * 1024;

/** @param directory the server's dataDir (or dataLogDir); may be empty still. */
export async function openTransactionLog(directory: string): Promise<TransactionLog> {
  const folder = path.join(directory, 'version-2');
  await mkdir(folder, { recursive: true });
  const transactions: LoggedTransaction[] = [];
  const listeners = new Set<(transaction: LoggedTransaction) => void>();
  const places = new Map<string, number>();
  const chunk = Buffer.alloc(CHUNK);
  let reading: Promise<unknown> = Promise.resolve();
  let last = -1n;

  async function readOn(): Promise<readonly LoggedTransaction[]> {
    const names = (await readdir(folder)).filter(name => name.startsWith('log.'));
    for (const name of names.toSorted((a, b) => startOf(a) - startOf(b))) {
      const { found, place } = await readFrom(
        path.join(folder, name),
        places.get(name) ?? HEADER_BYTES,
        chunk,
      );
      places.set(name, place);
      for (const transaction of found) {
        // A server that starts again may repeat what it had.
        if (transaction.zxid <= last) continue;
        last = transaction.zxid;
        transactions.push(transaction);
        for (const listener of [...listeners]) listener(transaction);
      }
    }
    return transactions;
  }
  function read(): Promise<readonly LoggedTransaction[]> {
    const next = reading.then(readOn);
    reading = next.catch(() => {}); // the caller has it; the next reading starts anew
    return next;
  }
  let due = false;
  const watcher: FSWatcher = watch(folder, () => {
    if (due) return;
    due = true;
    void reading.then(() => {
      due = false;
      return read();
    });
  });
  return {
    transactions,
    read,
    onTransaction(listener) {
      listeners.add(listener);
      const stack = new DisposableStack();
      stack.defer(() => void listeners.delete(listener));
      return stack;
    },
    [Symbol.dispose]: () => watcher.close(),
  };
}

function startOf(name: string): number {
  return Number.parseInt(name.slice('log.'.length), 16);
}

async function readFrom(
  file: string,
  place: number,
  chunk: Buffer,
): Promise<{ readonly found: readonly LoggedTransaction[]; readonly place: number }> {
  await using handle = await open(file, 'r');
  const found: LoggedTransaction[] = [];
  for (;;) {
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, place);
    let at = 0;
    while (at + 12 <= bytesRead) {
      const length = chunk.readInt32BE(at + 8);
      const end = at + 12 + length;
      // Not written yet, not wholly written yet, or beyond the chunk.
      if (length <= 0 || end + 1 > bytesRead || chunk[end] !== 0x42) break;
      found.push(decodeTransaction(Buffer.from(chunk.subarray(at + 12, end))));
      at = end + 1;
    }
    if (at === 0) return { found, place };
    place += at;
  }
}

function decodeTransaction(bytes: Buffer): LoggedTransaction {
  const read = juteReader(bytes);
  const session = read.long().toString(16);
  read.int();
  const zxid = read.long();
  const at = Number(read.long());
  const type = read.int();
  const base = { session, zxid, at };
  const none: readonly LoggedOperation[] = [];
  switch (type) {
    case -10:
      return { ...base, kind: 'session-begins', operations: none };
    case -11:
      return { ...base, kind: 'session-ends', operations: none };
    case -1:
      return { ...base, kind: 'refused', operations: none };
    case 14: {
      const parts = Array.from({ length: read.int() }, () => ({ type: read.int(), body: read.buffer() }));
      if (parts.some(part => part.type === -1)) return { ...base, kind: 'refused', operations: none };
      const operations = parts.flatMap(part => decodeOperation(part.type, juteReader(part.body)) ?? []);
      return { ...base, kind: 'write', operations };
    }
    default: {
      const operation = decodeOperation(type, read);
      return operation === undefined
        ? { ...base, kind: 'other', operations: none }
        : { ...base, kind: 'write', operations: [operation] };
    }
  }
}

function decodeOperation(type: number, read: JuteReader): LoggedOperation | undefined {
  switch (type) {
    case 1:
    case 15: {
      const target = read.text();
      const data = read.buffer();
      for (let acls = read.int(); acls > 0; acls--) {
        read.int();
        read.text();
        read.text();
      }
      return { kind: 'create', path: target, data, ephemeral: read.boolean() };
    }
    case 2:
      return { kind: 'delete', path: read.text() };
    case 5:
      return { kind: 'set', path: read.text(), data: read.buffer(), version: read.int() };
    case 13:
      return { kind: 'check', path: read.text() };
    default:
      return undefined;
  }
}

type JuteReader = ReturnType<typeof juteReader>;

function juteReader(bytes: Buffer) {
  let at = 0;
  const moved = (length: number) => {
    const from = at;
    at += length;
    return from;
  };
  const buffer = () => {
    const length = Math.max(0, bytes.readInt32BE(moved(4)));
    return bytes.subarray(at, moved(length) + length);
  };
  return {
    int: () => bytes.readInt32BE(moved(4)),
    long: () => bytes.readBigInt64BE(moved(8)),
    boolean: () => bytes.readUInt8(moved(1)) === 1,
    buffer,
    text: () => buffer().toString('utf8'),
  };
}
