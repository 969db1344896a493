/**
 * I9: no two processes commit to one pipeline (tenant, connection) with overlapping terms. A process that changes what a fence
 * guards holds the lock at that very moment, has raised the epoch itself, and epochs only grow.
 */

import { inLockOrder } from '../../../src/store/lock.ts';
import type { StorePaths } from '../../../src/store/paths.ts';
import type { StoreServer, Transaction } from '../store/server.ts';
import type { Check, Complain } from './check.ts';

interface Guarded {
  readonly name: string;
  readonly lock: string;
  readonly epoch: string;
}

export class Fences implements Check {
  readonly #server: StoreServer;
  readonly #paths: StorePaths;
  readonly #complain: Complain;
  /** Versions of the epochs at the last write. */
  readonly #epochs = new Map<string, { readonly version: number; readonly session: string }>();
  readonly #reached: (name: string) => void;
  readonly #inPipeline: RegExp;
  readonly #inQueue: RegExp;
  readonly #layout: RegExp;

  constructor(server: StoreServer, paths: StorePaths, complain: Complain, reached: (name: string) => void) {
    this.#server = server;
    this.#paths = paths;
    this.#complain = complain;
    this.#reached = reached;
    const { tenants, connections } = paths;
    this.#inPipeline = new RegExp(`^${tenants}/([^/]+)/pipelines/([^/]+)/(state|items/.+)$`);
    this.#inQueue = new RegExp(`^${connections}/([^/]+)/queue/.+$`);
    this.#layout = new RegExp(`^${tenants}/([^/]+)/layout$`);
  }

  committed({ operations, session, process, ending }: Transaction): void {
    if (ending) return;
    const touched = new Map<string, Guarded>();
    for (const { kind, path } of operations) {
      const guarded = kind === 'check' ? undefined : this.#guardOf(kind, path);
      if (guarded !== undefined) touched.set(guarded.name, guarded);
    }
    for (const guarded of touched.values()) this.#check(guarded, session, process, operations);
  }

  #check(
    { name, lock, epoch }: Guarded,
    session: string,
    process: string,
    operations: Transaction['operations'],
  ): void {
    const { leader } = this.#server;
    const [holder] = inLockOrder([...(leader.find(lock)?.children ?? [])]);
    const node = holder === undefined ? undefined : leader.find(`${lock}/${holder}`);
    if (node?.owner !== session) {
      this.#complain(
        'I9',
        `${process} (session ${session}) wrote to ${name}, whose lock ${node?.owner ?? 'no session'} holds`,
      );
      return;
    }
    const raised = leader.find(epoch);
    const by = new TextDecoder().decode(raised?.data);
    if (by !== node.path) this.#complain('I9', `${process} wrote to ${name} under the epoch of ${by}`);
    const version = raised?.version ?? -1;
    // What holds now must also be what the write insisted on: the next one may come later.
    if (!operations.some(({ kind, path }) => kind === 'check' && path === node.path))
      this.#complain('I9', `${process} wrote to ${name} without checking its lock`);
    const checksEpoch = operations.some(
      each => each.kind === 'check' && each.path === epoch && each.version === version,
    );
    if (!checksEpoch) this.#complain('I9', `${process} wrote to ${name} without checking its epoch`);
    const last = this.#epochs.get(name);
    if (last !== undefined && version < last.version)
      this.#complain('I9', `${name}: epoch ${version} after ${last.version}`);
    if (last !== undefined && last.session !== session) {
      this.#reached('a fence changed hands');
      if (version === last.version)
        this.#complain('I9', `${name}: two sessions wrote under epoch ${version}`);
    }
    this.#epochs.set(name, { version, session });
  }

  #guardOf(kind: string, path: string): Guarded | undefined {
    const [, tenant, pipeline, part] = this.#inPipeline.exec(path) ?? [];
    // Any process may make parents.
    if (
      tenant !== undefined &&
      pipeline !== undefined &&
      part !== undefined &&
      !(kind === 'create' && part === 'state')
    ) {
      const places = this.#paths.pipeline(tenant, pipeline);
      return { name: `pipeline ${pipeline}`, lock: places.lock, epoch: places.epoch };
    }
    const queue = this.#inQueue.exec(path)?.[1];
    if (kind === 'delete' && queue !== undefined) {
      const places = this.#paths.connection(queue);
      return { name: `connection ${queue}`, lock: places.election, epoch: places.epoch };
    }
    const layout = this.#layout.exec(path)?.[1];
    if (kind === 'set' && layout !== undefined) {
      const places = this.#paths.tenant(layout);
      return { name: `tenant ${layout}`, lock: places.lock, epoch: places.epoch };
    }
    return undefined;
  }
}
