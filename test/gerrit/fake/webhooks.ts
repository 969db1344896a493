/** The webhooks plug-in: events are posted one after the other, as the stream has them. */
import type { EmittedEvent, GerritWorld } from './world.ts';

export interface WebhookPost {
  readonly event: EmittedEvent;
  /** 0: no answer, or it was lost on purpose. */
  readonly status: number;
}

/** Each is taken by the next event. `swapped`: sent after the one that follows. */
export type WebhookFault = 'lost' | 'doubled' | 'swapped';

export interface Webhooks {
  /** Undefined: nothing is sent. */
  target: { readonly url: string; readonly headers?: Readonly<Record<string, string>> } | undefined;
  readonly faults: WebhookFault[];
  readonly log: readonly WebhookPost[];
  /** Resolves when every event so far was answered. */
  settled(): Promise<void>;
}

export function createWebhooks(world: GerritWorld): Webhooks {
  const log: WebhookPost[] = [];
  const held: EmittedEvent[] = [];
  let queue = Promise.resolve();
  const hooks: Webhooks = {
    target: undefined,
    faults: [],
    log,
    async settled() {
      for (let seen: Promise<void> | undefined; seen !== queue; ) {
        seen = queue;
        await seen;
      }
    },
  };
  const enqueue = (event: EmittedEvent) => {
    const { target } = hooks;
    if (target === undefined) return;
    queue = queue.then(async () => void log.push({ event, status: await post(target, event) }));
  };
  world.onEvent(event => {
    if (hooks.target === undefined || !event.visibleTo(null)) return;
    const fault = hooks.faults.shift();
    if (fault === 'swapped') {
      held.push(event);
      return;
    }
    if (fault === 'lost') log.push({ event, status: 0 });
    else enqueue(event);
    if (fault === 'doubled') enqueue(event);
    for (const each of held.splice(0)) enqueue(each);
  });
  return hooks;
}

/** @returns status; 0: no answer within ten seconds */
async function post(
  { url, headers }: NonNullable<Webhooks['target']>,
  { json }: EmittedEvent,
): Promise<number> {
  try {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json; charset=UTF-8', ...headers },
      body: JSON.stringify(json),
      signal: AbortSignal.timeout(10_000),
    });
    await answer.arrayBuffer();
    return answer.status;
  } catch {
    return 0;
  }
}
