/**
 * I5 to I8: what was acknowledged is durable; every event is put into a queue once and taken from it once, by the write that
 * records what came of it; nothing is quarantined that could be handled.
 */
import type { StorePaths } from '../../../src/store/paths.ts';
import { CONNECTION } from '../host/host-git.ts';
import { deadLetters } from '../quiet.ts';
import { TENANT } from '../site.ts';
import type { Transaction } from '../store/server.ts';
import type { World } from '../world.ts';
import type { Check, Complain } from './check.ts';
import { connectionEventOf, pipelineEventOf, tenantEventOf } from './decoded.ts';

export class Events implements Check {
  readonly #world: World;
  readonly #paths: StorePaths;
  readonly #complain: Complain;
  /** `<queue> <event>` of everything that was ever put into a queue. */
  readonly #put = new Set<string>();
  readonly #deliveries = new Map<string, number>();
  /** Events the tenant queue was handed, and those a pipeline was. */
  readonly #triggers = new Set<string>();

  constructor(world: World, complain: Complain) {
    this.#world = world;
    this.#paths = world.paths;
    this.#complain = complain;
  }

  committed(transaction: Transaction): void {
    const connection = `${this.#paths.connection(CONNECTION).queue}/`;
    const tenant = `${this.#paths.tenant(TENANT).triggerQueue}/`;
    for (const operation of transaction.operations) {
      if (operation.kind === 'create') {
        const { path, data } = operation;
        if (path === connection) this.#delivery(connectionEventOf(data).deliveryId);
        else if (path === tenant) this.#once('tenant', tenantEventOf(data).uuid);
        else if (/\/pipelines\/[^/]+\/events\/$/.test(path)) {
          const event = pipelineEventOf(data);
          this.#once(path, `${event.kind} ${event.uuid}`);
          if (event.kind === 'enqueue') this.#triggers.add(event.trigger.uuid);
        }
      } else if (operation.kind === 'delete' && operation.path.startsWith(connection))
        this.#left(transaction, 'a connection event');
      else if (operation.kind === 'delete' && operation.path.startsWith(tenant))
        this.#left(transaction, 'a tenant event');
    }
  }

  finished(): void {
    for (const { id, acknowledgedAt, durable } of this.#world.deliveries) {
      if (acknowledgedAt !== undefined && !durable)
        this.#complain('I5', `${id} was acknowledged before it was durable`);
      const times = this.#deliveries.get(id) ?? 0;
      if (acknowledgedAt !== undefined && times !== 1)
        this.#complain('I6', `${id} entered the queue ${times} times`);
    }
    for (const letter of deadLetters(this.#world))
      this.#complain('I8', `an event was quarantined: ${letter}`);
  }

  #delivery(id: string): void {
    const times = (this.#deliveries.get(id) ?? 0) + 1;
    this.#deliveries.set(id, times);
    if (times > 1) this.#complain('I6', `delivery ${id} was stored ${times} times`);
  }

  #once(queue: string, event: string): void {
    const key = `${queue} ${event}`;
    if (this.#put.has(key)) this.#complain('I7', `${event} was put into ${queue} twice`);
    this.#put.add(key);
  }

  /** The write that takes an event also records its outcome: events for the next stage, a trace, or a dead letter. */
  #left({ operations, before }: Transaction, what: string): void {
    const mayBeSilent = operations.some(({ kind, path }) => {
      const data = kind === 'delete' ? before.get(path) : undefined;
      return data !== undefined && this.#needsNoWords(path, data);
    });
    if (mayBeSilent) return;
    const says = operations.some(
      ({ kind, path }) =>
        kind !== 'delete' && kind !== 'check' && !path.endsWith('/lastOp') && !path.includes('/lock/'),
    );
    if (!says) this.#complain('I7', `${what} was taken and nothing came of it`);
  }

  /** An event that leads nowhere and is not traced; that the configuration is what it was. */
  #needsNoWords(path: string, data: Uint8Array): boolean {
    if (path.startsWith(`${this.#paths.connection(CONNECTION).queue}/`))
      return !connectionEventOf(data).sampled;
    if (!path.startsWith(`${this.#paths.tenant(TENANT).triggerQueue}/`)) return false;
    const event = tenantEventOf(data);
    return event.kind === 'first-look' || (event.kind === 'trigger' && !event.trigger.sampled);
  }
}
