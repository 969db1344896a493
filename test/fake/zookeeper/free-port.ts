import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * A port of 127.0.0.1 without a listener. It lies below the range that outgoing connections take theirs from (Linux:
 * from 32768 on), so that it stays free while a server is down, and no client connects to itself there.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(15_000, 32_000);
    const probe = createServer();
    const outcome = Promise.race([
      once(probe, 'listening').then(() => true),
      once(probe, 'error').then(() => false),
    ]);
    probe.listen(port, '127.0.0.1');
    const free = await outcome.catch(() => false);
    if (!free) continue;
    probe.close();
    await once(probe, 'close');
    return port;
  }
}
