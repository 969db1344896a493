/**
 * A whole installation in one thread: an ensemble, a code host, processes of each kind under a supervisor that starts them
 * again, people at the code host, and the faults.
 */

import { refsChanged } from '../../drivers/git/refs-changed.ts';
import type { ChangeKey } from '../../src/model/change.ts';
import { pipelineCountersCodec } from '../../src/model/codec/records.ts';
import type { HaltMode } from '../../src/model/halt.ts';
import { storePaths } from '../../src/store/paths.ts';
import type { Store } from '../../src/store/port.ts';
import type { TracePolicy } from '../../src/tracing/live-tracing.ts';
import { CodeHost } from './host/code-host.ts';
import { Developer } from './host/developer.ts';
import { CONNECTION } from './host/host-git.ts';
import { remoteCalls } from './host/remote-call.ts';
import { type Incarnation, incarnate } from './kernel/incarnation.ts';
import { Kernel } from './kernel/kernel.ts';
import { SimProcess } from './kernel/process.ts';
import { type Random, stream } from './kernel/random.ts';
import { type JobRun, runExecutor } from './process/executor.ts';
import { runMerger } from './process/merger.ts';
import type { ProcessParts } from './process/parts.ts';
import { runScheduler } from './process/scheduler.ts';
import { type Received, runSender } from './process/sender.ts';
import { runWeb, type WebDoor } from './process/web.ts';
import { type AfterLanding, populate, TENANT, tenants } from './site.ts';
import type { Sometimes } from './sometimes.ts';
import { StoreServer } from './store/server.ts';
import { SimSession } from './store/session.ts';
import { tracePolicyOf } from './trace-policy.ts';
import { Weather } from './weather.ts';

type Run = (life: Incarnation, parts: ProcessParts, stop: AbortSignal) => Promise<void>;

const KINDS: { readonly [kind: string]: Run } = {
  scheduler: runScheduler,
  merger: runMerger,
  executor: runExecutor,
  web: runWeb,
  sender: runSender,
};

/** Milliseconds a session may be silent. */
export const SESSION_TIMEOUT = 6_000;

/** In a row that show no halt: longer than a request may take. */
const LOOKS = 20;

interface Running {
  readonly process: SimProcess;
  readonly run: Run;
  sessions: SimSession[];
  stop: AbortController;
  door: WebDoor | undefined;
}

/** An effect outside the store that a process began. */
export interface Effect {
  readonly at: number;
  readonly by: string;
  readonly what: string;
  readonly sessionAlive: boolean;
}

/** A delivery of the code host, until it is taken. */
export interface Delivery {
  readonly id: string;
  readonly project: string;
  /** When a web acknowledged it; undefined: not yet. */
  acknowledgedAt: number | undefined;
  /** It was in the store when it was acknowledged. */
  durable: boolean;
}

export interface WorldOptions {
  readonly seed: number;
  readonly sometimes: Sometimes;
  /** Kind and how many. */
  readonly processes?: { readonly [kind: string]: number };
  /** Milliseconds jobs run: from, to. */
  readonly jobs?: readonly [number, number];
  /** Beside check, gate and post. */
  readonly pipelines?: readonly AfterLanding[];
  /** More lines of the gate, e.g. `window: 2`. */
  readonly gate?: readonly string[];
}

export class World {
  readonly kernel: Kernel;
  readonly server: StoreServer;
  readonly host: CodeHost;
  readonly people: Developer;
  readonly weather: Weather;
  readonly paths = storePaths('/gatehouse');
  readonly jobRuns: JobRun[] = [];
  readonly received: Received = { spans: [], history: [] };
  readonly tracing: TracePolicy;
  readonly effects: Effect[] = [];
  readonly deliveries: Delivery[] = [];
  /** Ends of processes that were not asked for, with the reason. */
  readonly exits: { readonly at: number; readonly process: string; readonly reason: unknown }[] = [];
  readonly options: WorldOptions;
  readonly #running = new Map<string, Running>();
  /** Of every life there was. */
  readonly #stops: AbortController[] = [];
  readonly #random: Random;
  readonly #parts: ProcessParts;
  /** Processes that stay down until they are started by hand. */
  readonly keptDown = new Set<string>();

  constructor(options: WorldOptions) {
    this.options = options;
    const { seed, sometimes } = options;
    this.kernel = new Kernel(seed);
    this.server = new StoreServer(this.kernel, stream(seed, 'server'));
    this.host = new CodeHost(() => this.kernel.now);
    this.people = new Developer(this.host);
    this.weather = new Weather(stream(seed, 'delays'), stream(seed, 'trouble'));
    this.#random = stream(seed, 'world');
    this.tracing = tracePolicyOf(seed);
    populate(this.host, options.pipelines ?? [], options.gate ?? []);
    this.host.onPush = project => this.#announce(project);
    const durations = stream(seed, 'jobs');
    const [shortest, longest] = options.jobs ?? [1_000, 12_000];
    this.#parts = {
      host: this.host,
      call: remoteCalls(this.kernel, this.weather, sometimes.reached),
      paths: this.paths,
      tenants: tenants(),
      tenant: TENANT,
      jobRuns: this.jobRuns,
      received: this.received,
      tracing: this.tracing,
      now: () => this.kernel.now,
      connect: life => this.#connect(life),
      jobDuration: () => durations.range(shortest, longest),
      openDoor: (life, door) => {
        const running = this.#running.get(life.name);
        if (running !== undefined && life.alive()) running.door = door;
      },
      onEffect: (life, store, what) => this.#noteEffect(life, store, what),
    };
    const wanted = options.processes ?? { scheduler: 2, merger: 2, executor: 2, web: 2, sender: 2 };
    for (const [kind, count] of Object.entries(wanted)) {
      const run = KINDS[kind];
      if (run === undefined) throw new Error(`there is no kind of process ${kind}`);
      for (let index = 1; index <= count; index += 1) {
        const process = new SimProcess(`${kind}${index}`);
        this.#running.set(process.name, {
          process,
          run,
          sessions: [],
          stop: new AbortController(),
          door: undefined,
        });
      }
    }
  }

  get names(): readonly string[] {
    return [...this.#running.keys()];
  }

  process(name: string): SimProcess {
    return this.#of(name).process;
  }

  startAll(): void {
    for (const name of this.#running.keys()) this.start(name);
  }

  start(name: string): void {
    const running = this.#of(name);
    const { process } = running;
    if (process.alive) return;
    this.keptDown.delete(name);
    process.generation += 1;
    process.starts += 1;
    process.alive = true;
    process.paused = false;
    process.held = [];
    running.sessions = [];
    running.door = undefined;
    running.stop = new AbortController();
    this.#stops.push(running.stop);
    const life = incarnate(this.kernel, process, this.options.seed, reason =>
      this.#exited(name, process.generation, reason),
    );
    const { signal } = running.stop;
    this.kernel.after(this.#random.range(1, 50), process, `${name} starts`, () => {
      this.kernel.note(`${name} starts`);
      life.background(
        running.run(life, this.#parts, signal).then(() => {
          if (!life.alive()) return;
          this.#exited(name, life.generation, signal.aborted ? 'stopped' : 'it ended by itself');
        }),
      );
    });
  }

  /**
   * After the run: everything is dead, and its waits are aborted. The platform keeps signals with listeners
   * alive until they abort, and with them all that a dead process remembered.
   */
  async dispose(): Promise<void> {
    for (const { process } of this.#running.values()) this.kernel.kill(process);
    await this.kernel.quietly(() => {
      for (const stop of this.#stops) stop.abort(new Error('the simulation is over'));
    });
  }

  /** kill -9. The supervisor starts it again after `restartMs`; undefined: it stays down. */
  crash(name: string, restartMs: number | undefined): void {
    const { process, sessions } = this.#of(name);
    if (!process.alive) return;
    this.kernel.note(`${name} is killed`);
    this.kernel.kill(process);
    for (const session of sessions) session.silence();
    if (restartMs === undefined) this.keptDown.add(name);
    else this.kernel.after(restartMs, undefined, `${name} restart`, () => this.start(name));
  }

  /** Asked to end; killed when it takes too long. */
  restart(name: string): void {
    const { process, stop } = this.#of(name);
    if (!process.alive || process.paused) return;
    const { generation } = process;
    this.kernel.note(`${name} is asked to stop`);
    this.kernel.after(0, process, `${name} stop`, () => stop.abort(new Error(`${name} is stopping`)));
    this.kernel.after(20_000, undefined, `${name} grace`, () => {
      if (process.alive && process.generation === generation) {
        this.options.sometimes.reached('graceful stop took too long');
        this.crash(name, 500);
      }
    });
  }

  /** SIGSTOP, then SIGCONT. */
  pause(name: string, ms: number): void {
    const { process, sessions } = this.#of(name);
    if (!process.alive || process.paused) return;
    const { generation } = process;
    this.kernel.note(`${name} is paused for ${Math.round(ms)} ms`);
    process.paused = true;
    for (const session of sessions) session.silence();
    this.kernel.after(ms, undefined, `${name} resume`, () => {
      if (process.generation !== generation || !process.paused) return;
      this.kernel.note(`${name} goes on`);
      this.kernel.resume(process);
      for (const session of sessions) session.resume();
    });
  }

  sessionsOf(name: string): readonly SimSession[] {
    return this.#of(name).sessions;
  }

  /** A person presses the button; lost when no web process answers. */
  dequeue(pipeline: string, change: ChangeKey): void {
    this.#press('dequeue', door => door.dequeue(pipeline, change));
  }

  /** A person asks for it; lost when no web process answers. */
  promote(pipeline: string, change: ChangeKey): void {
    this.#press('promote', door => door.promote(pipeline, change));
  }

  /** A person asks for it; lost when no web process answers. */
  enqueue(pipeline: string, change: ChangeKey): void {
    this.#press('enqueue', door => door.enqueue(pipeline, change));
  }

  /** A person asks for it; lost when no web process answers. */
  rerun(pipeline: string, change: ChangeKey): void {
    this.#press('run failed jobs again', door => door.rerun(pipeline, change));
  }

  /** A person asks for it, and after a while that the pipeline goes on; lost when no web process answers. */
  halt(pipeline: string, mode: HaltMode, ms: number): void {
    this.#press(mode, door => door.halt(pipeline, mode));
    this.kernel.after(ms, undefined, `${pipeline} shall go on`, () => this.#resume(pipeline, LOOKS));
  }

  /** Asked for again and again, as by a person who looks whether it has happened: a request may be late, or be lost. */
  #resume(pipeline: string, looks: number): void {
    const isHalted = this.#haltsOf(pipeline) > 0;
    if (isHalted) {
      this.options.sometimes.reached('a pipeline was halted');
      this.#press('resume', door => door.halt(pipeline, 'resume'));
    }
    const left = isHalted ? LOOKS : looks - 1;
    if (left > 0)
      this.kernel.after(20_000, undefined, `look at ${pipeline}`, () => this.#resume(pipeline, left));
  }

  #haltsOf(pipeline: string): number {
    const node = this.server.leader.find(this.paths.pipeline(TENANT, pipeline).state);
    return node === undefined ? 0 : (pipelineCountersCodec.decode(node.data).halts ?? []).length;
  }

  #press(what: string, press: (door: WebDoor) => Promise<void>): void {
    const running = [...this.#running.values()].find(each => each.door !== undefined && each.process.alive);
    const door = running?.door;
    if (running === undefined || door === undefined) return;
    this.kernel.after(5, running.process, what, () => {
      press(door).catch(error => this.kernel.note(`a request to ${what} was lost: ${String(error)}`));
    });
  }

  #of(name: string): Running {
    const running = this.#running.get(name);
    if (running === undefined) throw new Error(`there is no process ${name}`);
    return running;
  }

  #connect(life: Incarnation): Store {
    const { sometimes, seed } = this.options;
    const running = this.#of(life.name);
    const session = new SimSession(life, {
      kernel: this.kernel,
      server: this.server,
      random: stream(seed, `line of ${life.name}/${life.process.starts}`),
      faults: this.weather,
      timeoutMs: SESSION_TIMEOUT,
      reached: sometimes.reached,
    });
    if (life.alive()) running.sessions.push(session);
    // Components end with their session; a supervisor starts them again.
    session.onSessionState(state => {
      if (state === 'lost' && life.alive() && !running.stop.signal.aborted) life.exit('its session is over');
    });
    return session;
  }

  #exited(name: string, generation: number, reason: unknown): void {
    const { process, sessions } = this.#of(name);
    if (process.generation !== generation) return;
    const asked = reason === 'stopped';
    this.kernel.note(
      `${name} ended: ${reason instanceof Error ? `${reason.name}: ${reason.message}` : String(reason)}`,
    );
    if (!asked) this.exits.push({ at: this.kernel.now, process: name, reason });
    this.kernel.kill(process);
    for (const session of sessions) session.silence();
    this.kernel.after(this.#random.range(500, 3_000), undefined, `${name} restart`, () => {
      if (!this.keptDown.has(name)) this.start(name);
    });
  }

  #noteEffect(life: Incarnation, store: Store, what: string): void {
    if (!life.alive()) return;
    const session = this.#of(life.name).sessions.find(each => each === store);
    const sessionAlive = session?.isAliveAtServer ?? false;
    this.effects.push({ at: this.kernel.now, by: life.name, what, sessionAlive });
  }

  // ---- webhooks ----

  #announce(project: string): void {
    const id = `delivery-${this.deliveries.length + 1}`;
    const delivery: Delivery = { id, project, acknowledgedAt: undefined, durable: false };
    this.deliveries.push(delivery);
    this.kernel.after(this.#random.range(5, 50), undefined, `webhook ${id}`, () =>
      this.#deliver(delivery, 1),
    );
  }

  #deliver(delivery: Delivery, attempt: number): void {
    const webs = [...this.#running.values()].filter(each => each.run === runWeb);
    const web = webs[attempt % webs.length];
    if (delivery.acknowledgedAt !== undefined || web === undefined) return;
    const again = this.kernel.after(10_000, undefined, `webhook ${delivery.id} again`, () =>
      this.#deliver(delivery, attempt + 1),
    );
    if (attempt > 1) this.options.sometimes.reached('a webhook was sent again');
    const { door, process } = web;
    if (door === undefined || !process.alive) return;
    this.kernel.after(this.weather.delay(process.name, 'web'), process, `webhook at ${process.name}`, () => {
      const answer = (stored: boolean) => {
        const seen = `${this.paths.connection(CONNECTION).seen}/${delivery.id}`;
        const durable = this.server.leader.find(seen) !== undefined;
        this.kernel.after(this.weather.delay(process.name, 'web'), undefined, 'webhook answered', () => {
          if (!stored) return;
          again.cancelled = true;
          if (delivery.acknowledgedAt === undefined) delivery.durable = durable;
          delivery.acknowledgedAt ??= this.kernel.now;
        });
      };
      door.webhook(refsChanged(delivery.project, delivery.id)).then(
        () => answer(true),
        () => answer(false),
      );
    });
  }
}
