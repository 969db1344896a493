/** `gerrit stream-events` as the driver listens to it, with ssh2. */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import ssh2 from 'ssh2';
import type { Json } from '../../../src/model/job.ts';
import type { Account } from './account.ts';

export interface EventStream extends AsyncDisposable {
  /** All so far, oldest first. */
  readonly events: readonly Json[];
  /** The first event for which the condition holds, or waits for it. @throws Error when the stream ends before */
  first(condition: (event: Json) => boolean): Promise<Json>;
  /** Resolves when the server has closed the connection. */
  readonly closed: Promise<unknown>;
  /** What the server said when it refused; empty: nothing. */
  refusal(): string;
}

/** Resolves when the command runs. It may still be refused: then the stream closes. */
export async function openEventStream(
  ssh: { readonly host: string; readonly port: number },
  { username, keyFile }: Account,
): Promise<EventStream> {
  const client = new ssh2.Client();
  const privateKey = await readFile(keyFile);
  client.connect({ ...ssh, username, privateKey, readyTimeout: 60_000 });
  await once(client, 'ready');
  const closed = once(client, 'close');
  // A connection that is cut ends with an error or without one.
  client.on('error', () => {});
  const channel = await new Promise<ssh2.ClientChannel>((resolve, reject) => {
    client.exec('gerrit stream-events', (error, opened) => (error ? reject(error) : resolve(opened)));
  });
  const events: Json[] = [];
  const waiting = new Set<() => void>();
  const wake = () => {
    for (const each of [...waiting]) each();
  };
  let refusal = '';
  let isOver = false;
  createInterface({ input: channel }).on('line', line => {
    events.push(JSON.parse(line));
    wake();
  });
  channel.stderr.on('data', (data: Buffer) => {
    refusal += data.toString();
  });
  channel.on('close', () => {
    isOver = true;
    client.end();
    wake();
  });
  return {
    events,
    closed,
    refusal: () => refusal.trim(),
    async first(condition) {
      for (;;) {
        const found = events.find(condition);
        if (found !== undefined) return found;
        if (isOver) throw new Error(`the stream ended after ${JSON.stringify(events.slice(-5))}`);
        await new Promise<void>(resolve => {
          const again = () => {
            waiting.delete(again);
            resolve();
          };
          waiting.add(again);
        });
      }
    },
    async [Symbol.asyncDispose]() {
      client.end();
      client.destroy();
      await closed;
    },
  };
}
