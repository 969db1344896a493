/**
 * Webhook deliveries: judged, signed, sent one after another, logged, sent again on request.
 * Faults are taken by the next deliveries, one each.
 */
import { createHmac, randomUUID } from 'node:crypto';
import type { Shape } from './shape.ts';
import { webhookExamples } from './webhook-examples.ts';
import { timestamp, type World } from './world.ts';

export interface Delivery {
  readonly id: number;
  readonly guid: string;
  readonly event: string;
  readonly action: string | null;
  readonly payload: Shape;
  readonly deliveredAt: string;
  /** Of the receiver; 0: no receiver is set. */
  readonly status: number;
  readonly redelivery: boolean;
  readonly repositoryId: number | null;
  readonly installationId: number | null;
}

/** `lost`: never sent, logged as failed. `held`: sent after `release`. `swapped`: sent after the next one. */
export type HookFault = 'lost' | 'doubled' | 'twice-at-once' | 'held' | 'swapped';

export interface HookTarget {
  /** Absent: deliveries are logged, not sent. */
  url?: string;
  secret: string;
}

export interface Deliveries {
  readonly log: readonly Delivery[];
  readonly faults: HookFault[];
  /** While true, every delivery is lost. */
  down: boolean;
  readonly target: HookTarget;
  /** Judges and queues. */
  send(event: string, payload: Shape, about: { repositoryId?: number; installationId?: number }): void;
  /** Queues it again, under the same GUID. @returns whether there is such a delivery */
  redeliver(id: number): boolean;
  /** Sends what was held. */
  release(): void;
  /** Resolves when everything queued has been answered. */
  settled(): Promise<void>;
}

type Waiting = Omit<Delivery, 'id' | 'deliveredAt' | 'status'>;

export function createDeliveries(world: World, target: HookTarget, violations: string[]): Deliveries {
  const log: Delivery[] = [];
  const faults: HookFault[] = [];
  const held: Waiting[] = [];
  const swapped: Waiting[] = [];
  let queue = Promise.resolve();
  const enqueue = (delivery: Waiting, fault?: HookFault) => {
    queue = queue
      .then(() => deliver(delivery, fault))
      .catch(error => void violations.push(`delivery: ${error}`));
  };
  const deliveries: Deliveries = {
    log,
    faults,
    down: false,
    target,
    send(event, payload, about) {
      const wrong = webhookExamples().problems(event, payload);
      if (wrong.length > 0)
        violations.push(`webhook ${event}.${payload.action ?? ''}: ${wrong.slice(0, 4).join('; ')}`);
      const waiting: Waiting = {
        guid: randomUUID(),
        event,
        action: typeof payload.action === 'string' ? payload.action : null,
        payload,
        redelivery: false,
        repositoryId: about.repositoryId ?? null,
        installationId: about.installationId ?? null,
      };
      const fault = deliveries.down ? 'lost' : faults.shift();
      if (fault === 'held') held.push(waiting);
      else if (fault === 'swapped') swapped.push(waiting);
      else {
        enqueue(waiting, fault);
        for (const each of swapped.splice(0)) enqueue(each);
      }
    },
    redeliver(id) {
      const found = log.find(each => each.id === id);
      if (found !== undefined) enqueue({ ...found, redelivery: true });
      return found !== undefined;
    },
    release() {
      for (const each of [...held.splice(0), ...swapped.splice(0)]) enqueue(each);
    },
    async settled() {
      for (let seen: Promise<void> | undefined; seen !== queue; ) {
        seen = queue;
        await seen;
      }
    },
  };
  async function deliver(waiting: Waiting, fault?: HookFault): Promise<void> {
    const copy = fault === 'twice-at-once' ? post(waiting) : undefined;
    const status = fault === 'lost' ? 502 : await post(waiting);
    await copy;
    if (fault === 'doubled') await post(waiting);
    log.push({ ...waiting, id: world.nextId(), deliveredAt: timestamp(world), status });
  }
  async function post({ event, guid, payload }: Waiting): Promise<number> {
    if (target.url === undefined) return 0;
    const body = JSON.stringify(payload);
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'GitHub-Hookshot/fake',
      'x-github-event': event,
      'x-github-delivery': guid,
      'x-github-hook-id': '1',
      'x-github-hook-installation-target-type': 'integration',
      'x-github-hook-installation-target-id': String(world.app.id),
      'x-hub-signature': `sha1=${createHmac('sha1', target.secret).update(body).digest('hex')}`,
      'x-hub-signature-256': `sha256=${createHmac('sha256', target.secret).update(body).digest('hex')}`,
    };
    // GitHub waits for ten seconds.
    return fetch(target.url, { method: 'POST', body, headers, signal: AbortSignal.timeout(10_000) }).then(
      async answer => {
        await answer.arrayBuffer();
        return answer.status;
      },
      () => 504,
    );
  }
  return deliveries;
}
