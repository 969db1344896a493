/**
 * A component over all its sessions: supervised, registered, and subject to operators' requests (pause, resume, stop).
 *
 *     const executor = manageComponent('executor', core, startExecutor);
 *     await executor.begun;                        // it works and the registry lists it
 *     await executor.stopGracefully();             // finishes its work, deregisters; `ended` resolves
 *
 * A requested state survives the loss of a session, not the end of the process.
 */
import { assertNever } from '../../lib/assert-never.ts';
import type { Nanoseconds } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { ComponentState } from '../../model/component.ts';
import { type Registration, registerComponent } from '../../store/components.ts';
import { type Store, StoreError } from '../../store/port.ts';
import { isHalfCopied } from '../../store/tree-copy.ts';
import { VERSION } from '../version.ts';
import type { Component, ComponentName, Core } from './core.ts';
import { type Part, type Supervised, supervise } from './supervise.ts';

/** One component of the process, in whichever session it is. */
export interface Managed<C extends Component> {
  readonly name: ComponentName;
  /** Resolves when it was first started and registered; rejects when it never will be. */
  readonly begun: Promise<void>;
  /** Resolves when it is first ready; rejects when it never will be. */
  readonly ready: Promise<void>;
  /** Resolves when it was closed or stopped gracefully; rejects with the failure that ended it. */
  readonly ended: Promise<void>;
  /** Undefined between two sessions. */
  current(): C | undefined;
  /** Why it does not work, for people; undefined: it works. */
  notReady(): string | undefined;
  /** Finishes its work, deregisters and ends. `close` ends the wait early. Idempotent. */
  stopGracefully(): Promise<void>;
  close(): Promise<void>;
}

/** Dependencies of all components of a process, before a component gets its own session. */
export type ProcessCore = Omit<Core, 'session' | 'paused' | 'trouble'> & {
  readonly storeName: string;
  readonly connect: (name: string, signal: AbortSignal) => Promise<Store>;
};

interface RunningComponent<C extends Component> extends Part {
  readonly component: C;
  /** Resolves when it is closed, for any reason. */
  readonly closed: Promise<void>;
}

/**
 * Begins at once and never throws; failures are in `begun` and `ended`. An executor starts paused if its settings want it.
 *
 * @param start called once per session; with `paused` the component must take no work.
 */
export function manageComponent<C extends Component>(
  name: ComponentName,
  core: ProcessCore,
  start: (core: Core) => Promise<C>,
): Managed<C> {
  return new ManagedComponent(name, core, start);
}

class ManagedComponent<C extends Component> implements Managed<C> {
  readonly name: ComponentName;
  readonly begun: Promise<void>;
  readonly ready: Promise<void>;
  readonly ended: Promise<void>;
  readonly #core: ProcessCore;
  readonly #start: (core: Core) => Promise<C>;
  readonly #log: Log;
  readonly #startedAt: Nanoseconds;
  readonly #ready = Promise.withResolvers<void>();
  readonly #supervised: Supervised<RunningComponent<C>>;
  #state: ComponentState;
  #trouble: string | undefined;
  /** The newest one. */
  #registration: Registration | undefined;
  #stopping: Promise<void> | undefined;

  constructor(name: ComponentName, core: ProcessCore, start: (core: Core) => Promise<C>) {
    this.name = name;
    this.#core = core;
    this.#start = start;
    this.#log = core.log.child({ component: name });
    this.#startedAt = core.clock.now();
    this.#state = name === 'executor' && core.settings.executor.pausedOnStart ? 'paused' : 'running';
    this.ready = this.#ready.promise;
    this.ready.catch(() => {}); // also reported by `ended`
    this.#supervised = supervise<RunningComponent<C>>({
      name,
      storeName: core.storeName,
      connect: signal => core.connect(name, signal),
      clock: core.clock,
      log: core.log,
      random: Math.random,
      start: session => this.#startOn(session),
    });
    this.ended = this.#supervised.ended;
    this.begun = this.#supervised.begun.then(() => {});
    this.begun.catch(this.#ready.reject);
    this.ended.then(
      () => this.#ready.reject(new Error(`${name} was closed before it was ready`)),
      this.#ready.reject,
    );
  }

  current(): C | undefined {
    return this.#supervised.current()?.component;
  }

  notReady(): string | undefined {
    return this.#supervised.notReady() ?? this.current()?.notReady();
  }

  stopGracefully(): Promise<void> {
    this.#stopping ??= this.#drain();
    return this.#stopping;
  }

  close(): Promise<void> {
    return this.#supervised.close();
  }

  async #startOn(session: Store): Promise<RunningComponent<C>> {
    const core = this.#core;
    if (await isHalfCopied(session, core.paths.root)) throw new Error(halfCopied(core));
    await using opening = new AsyncDisposableStack();
    this.#trouble = undefined;
    this.#registration = undefined;
    const component = await this.#start({
      ...core,
      paused: this.#state !== 'running',
      session: async () => session,
      trouble: text => {
        this.#trouble = text;
        this.#publish();
      },
    });
    opening.defer(() => component.close());
    if (this.#state !== 'running') component.pause();
    const record = this.#record(component);
    const registration = await registerComponent(session, core.paths, this.name, record, wanted =>
      this.#request(wanted),
    );
    this.#registration = registration;
    // It works already: it may have come into trouble meanwhile.
    if (record.trouble !== this.#trouble || record.state !== this.#state) this.#publish();
    opening.defer(() => registration[Symbol.dispose]());
    const closed = Promise.withResolvers<void>();
    opening.defer(() => closed.resolve());
    const lifetime = opening.move();
    (component.ready ?? Promise.resolve()).then(this.#ready.resolve, error =>
      this.#log.debug({ err: error }, `${this.name} was not ready when its session ended`),
    );
    const { id } = registration;
    this.#log.info({ id, state: this.#state }, `${this.name} is registered as ${id}`);
    return {
      component,
      ended: component.ended,
      closed: closed.promise,
      close: () => lifetime.disposeAsync(),
    };
  }

  #record({ offers }: C) {
    const { host } = this.#core;
    return {
      host,
      pid: process.pid,
      version: VERSION,
      startedAt: this.#startedAt,
      ...this.#changing(),
      labels: offers?.labels ?? [],
      address: offers?.address ?? null,
      ...(offers?.walls === undefined ? {} : { walls: offers.walls }),
      ...(offers?.ansibleVersions === undefined ? {} : { ansibleVersions: offers.ansibleVersions }),
      ...(offers?.zone === undefined ? {} : { zone: offers.zone }),
      ...(offers?.allowUnzoned === undefined ? {} : { allowUnzoned: offers.allowUnzoned }),
    };
  }

  #changing() {
    const trouble = this.#trouble;
    return { state: this.#state, ...(trouble === undefined ? {} : { trouble }) };
  }

  /** An operator's request. */
  #request(wanted: ComponentState): void {
    switch (wanted) {
      case 'running':
      case 'paused':
        // A web takes no work, so it cannot be paused.
        if (this.name !== 'web' && this.#state !== 'stopping' && this.#state !== wanted) this.#turn(wanted);
        return;
      case 'stopping':
        void this.stopGracefully();
        return;
      default:
        assertNever(wanted);
    }
  }

  #turn(next: 'running' | 'paused'): void {
    const { name } = this;
    const text = next === 'paused' ? `${name} is paused: it takes no new work` : `${name} takes work again`;
    this.#log.info({}, text);
    this.#state = next;
    if (next === 'paused') this.current()?.pause();
    else this.current()?.resume();
    this.#publish();
  }

  #publish(): void {
    this.#registration
      ?.update(this.#changing())
      // The session is lost: the next registration has the current state.
      .catch(error => this.#log.debug({ err: error }, 'cannot update the registry'));
  }

  async #drain(): Promise<void> {
    const { name } = this;
    this.#state = 'stopping';
    const running = this.#supervised.current();
    if (running !== undefined) {
      this.#log.info({}, `${name} stops: it finishes its work and takes no new work`);
      running.component.pause();
      this.#publish();
      try {
        await Promise.race([running.component.drain(), running.closed]);
      } catch (error) {
        // Without its session it has no work to finish.
        if (!(error instanceof StoreError))
          this.#log.error({ err: error }, `${name} could not finish its work`);
      }
    }
    await this.#supervised.close();
  }
}

function halfCopied({ storeName, paths }: ProcessCore): string {
  return `${storeName} holds an incomplete dump (below ${paths.root}); remove ${paths.root} and restore again`;
}
