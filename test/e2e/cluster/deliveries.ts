/**
 * A code host that sends signed webhooks, one after the other, and sends one again under the same id until a web took it:
 * a delivery that was acknowledged must have an end, even when the web that acknowledged it died.
 */
import { createHmac } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';

export interface Deliveries {
  /** Resolves when a web answered 2xx. @returns the delivery id. */
  deliver(project: string): Promise<string>;
  /** The same delivery once more, under the same id, at the next web; not again if that one does not take it. */
  repeat(project: string, id: string): Promise<void>;
  /** One try at one web, as it answers; undefined: no answer. */
  tryOnce(web: string, project: string, id: string): Promise<Attempt>;
  /** Ids some web answered with 2xx. */
  readonly taken: readonly string[];
  readonly attempts: readonly Attempt[];
}

interface Attempt {
  readonly id: string;
  /** HTTP status; undefined: the connection failed. */
  readonly status: number | undefined;
  readonly tookMs: number;
}

/** Milliseconds a code host waits for an answer. */
const PATIENCE = 10_000;

export function createDeliveries(
  webs: () => readonly string[],
  options: { readonly connection: string; readonly token: string; readonly deadlineMs: number },
): Deliveries {
  const taken: string[] = [];
  const attempts: Attempt[] = [];
  let sent = 0;

  async function tryOnce(web: string, project: string, id: string): Promise<Attempt> {
    const body = JSON.stringify({ project });
    const signature = createHmac('sha256', options.token).update(body).digest('hex');
    const began = performance.now();
    const status = await fetch(`${web}/api/connection/${options.connection}/payload`, {
      method: 'POST',
      body,
      signal: AbortSignal.timeout(PATIENCE),
      headers: {
        'Content-Type': 'application/json',
        'X-Gatehouse-Delivery': id,
        'X-Gatehouse-Signature': `sha256=${signature}`,
      },
    }).then(
      async response => {
        await response.text();
        return response.status;
      },
      () => undefined,
    );
    const attempt = { id, status, tookMs: performance.now() - began };
    attempts.push(attempt);
    if (status !== undefined && status < 300) taken.push(id);
    return attempt;
  }

  return {
    taken,
    attempts,
    tryOnce,
    async repeat(project, id) {
      const all = webs();
      const web = all[(sent + 1) % all.length];
      if (web !== undefined) await tryOnce(web, project, id);
    },
    async deliver(project) {
      sent += 1;
      const id = `cluster-${sent}`;
      const deadline = performance.now() + options.deadlineMs;
      for (let tries = 0; ; tries++) {
        const all = webs();
        const web = all[(sent + tries) % all.length];
        const { status } = web === undefined ? { status: undefined } : await tryOnce(web, project, id);
        if (status !== undefined && status < 300) return id;
        if (performance.now() > deadline)
          throw new Error(`no web took delivery ${id}; last answer: ${status}`);
        await delay(100);
      }
    },
  };
}
