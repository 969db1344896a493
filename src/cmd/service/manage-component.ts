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
import type { ComponentState } from '../../model/component.ts';
import { type Registration, registerComponent } from '../../store/components.ts';
import { type Store, StoreError } from '../../store/port.ts';
import { isHalfCopied } from '../../store/tree-copy.ts';
import { VERSION } from '../version.ts';
import type { Component, ComponentName, Core } from './core.ts';
import { type Part, supervise } from './supervise.ts';

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
  readonly registration: Registration;
  /** Resolves when it is closed, for any reason. */
  readonly closed: Promise<void>;
}

export function manageComponent<C extends Component>(
  name: ComponentName,
  core: ProcessCore,
  start: (core: Core) => Promise<C>,
): Managed<C> {
  const log = core.log.child({ component: name });
  const startedAt = core.clock.now();
  let state: ComponentState =
    name === 'executor' && core.settings.executor.pausedOnStart ? 'paused' : 'running';
  let trouble: string | undefined;
  let stopping: Promise<void> | undefined;
  const ready = Promise.withResolvers<void>();
  ready.promise.catch(() => {}); // also reported by `ended`

  const supervised = supervise<RunningComponent<C>>({
    name,
    storeName: core.storeName,
    connect: signal => core.connect(name, signal),
    clock: core.clock,
    log: core.log,
    random: Math.random,
    async start(session) {
      if (await isHalfCopied(session, core.paths.root)) throw new Error(halfCopied(core));
      await using opening = new AsyncDisposableStack();
      trouble = undefined;
      const component = await start({
        ...core,
        paused: state !== 'running',
        session: async () => session,
        trouble(text) {
          trouble = text;
          publish();
        },
      });
      opening.defer(() => component.close());
      if (state !== 'running') component.pause();
      const registration = await registerComponent(session, core.paths, name, record(component), request);
      opening.defer(() => registration[Symbol.dispose]());
      const closed = Promise.withResolvers<void>();
      opening.defer(() => closed.resolve());
      const lifetime = opening.move();
      (component.ready ?? Promise.resolve()).then(ready.resolve, error =>
        log.debug({ err: error }, `${name} was not ready when its session ended`),
      );
      log.info({ id: registration.id, state }, `${name} is registered as ${registration.id}`);
      return {
        component,
        registration,
        ended: component.ended,
        closed: closed.promise,
        close: () => lifetime.disposeAsync(),
      };
    },
  });

  function record({ offers }: C) {
    return {
      host: core.host,
      pid: process.pid,
      version: VERSION,
      state,
      startedAt,
      ...(trouble === undefined ? {} : { trouble }),
      labels: offers?.labels ?? [],
      address: offers?.address ?? null,
      ...(offers?.walls === undefined ? {} : { walls: offers.walls }),
    };
  }

  function request(wanted: ComponentState): void {
    switch (wanted) {
      case 'running':
      case 'paused':
        // A web takes no work, so it cannot be paused.
        if (name !== 'web' && state !== 'stopping' && state !== wanted) turn(wanted);
        return;
      case 'stopping':
        void stopGracefully();
        return;
      default:
        assertNever(wanted);
    }
  }

  function turn(next: 'running' | 'paused'): void {
    log.info({}, next === 'paused' ? `${name} is paused: it takes no new work` : `${name} takes work again`);
    state = next;
    const running = supervised.current();
    if (next === 'paused') running?.component.pause();
    else running?.component.resume();
    publish();
  }

  function publish(): void {
    supervised
      .current()
      ?.registration.update({ state, ...(trouble === undefined ? {} : { trouble }) })
      // The session is lost: the next registration has the current state.
      .catch(error => log.debug({ err: error }, 'cannot update the registry'));
  }

  async function drain(): Promise<void> {
    state = 'stopping';
    const running = supervised.current();
    if (running !== undefined) {
      log.info({}, `${name} stops: it finishes its work and takes no new work`);
      running.component.pause();
      publish();
      try {
        await Promise.race([running.component.drain(), running.closed]);
      } catch (error) {
        // Without its session it has no work to finish.
        if (!(error instanceof StoreError)) log.error({ err: error }, `${name} could not finish its work`);
      }
    }
    await supervised.close();
  }

  function stopGracefully(): Promise<void> {
    stopping ??= drain();
    return stopping;
  }

  const begun = supervised.begun.then(() => {});
  begun.catch(ready.reject);
  supervised.ended.then(
    () => ready.reject(new Error(`${name} was closed before it was ready`)),
    ready.reject,
  );
  return {
    name,
    begun,
    ready: ready.promise,
    ended: supervised.ended,
    current: () => supervised.current()?.component,
    notReady: () => supervised.notReady() ?? supervised.current()?.component.notReady(),
    stopGracefully,
    close: () => supervised.close(),
  };
}

function halfCopied({ storeName, paths }: ProcessCore): string {
  return `${storeName} holds an incomplete dump (below ${paths.root}); remove ${paths.root} and restore again`;
}
