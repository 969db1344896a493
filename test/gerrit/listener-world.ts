/** A listener at work against the fake Gerrit, over real HTTP and real SSH, with a clock that tests turn. */
import { openGerritClient } from '../../drivers/gerrit/api/open-client.ts';
import { readGerritNotification } from '../../drivers/gerrit/intake/notification.ts';
import { createGerritListener } from '../../drivers/gerrit/listener/gerrit-listener.ts';
import type { GerritListenerDeps, StreamState } from '../../drivers/gerrit/listener/listening.ts';
import { processMark } from '../../drivers/gerrit/listener/mark.ts';
import type { NewConnectionEvent } from '../../src/driver/intake.ts';
import { type Clock, fromMilliseconds } from '../../src/lib/clock.ts';
import { pause } from '../../src/lib/pause.ts';
import { Secret } from '../../src/lib/secret.ts';
import type { HostPass } from '../../src/model/host-pass.ts';
import type { Json } from '../../src/model/job.ts';
import { projectKey } from '../../src/model/project.ts';
import { type FakeGerrit, startFakeGerrit } from './fake/fake-gerrit.ts';
import { type FakeSsh, newKeyPair } from './fake/ssh/fake-ssh.ts';
import { startGerritSsh } from './fake/ssh/gerrit-ssh.ts';

const START = Date.UTC(2026, 10, 22, 13);

/** Time stands still but for {@link HandClock.advance}. */
interface HandClock extends Clock {
  ms(): number;
  /** Ends the waits that are over by then. */
  advance(milliseconds: number): void;
  wait(milliseconds: number, signal: AbortSignal): Promise<void>;
  /** Milliseconds of the waits under way. */
  waits(): readonly number[];
}

function handClock(): HandClock {
  let now = START;
  const waits = new Set<{ readonly until: number; readonly end: () => void }>();
  return {
    ms: () => now,
    now: () => fromMilliseconds(now),
    monotonic: () => now,
    waits: () => [...waits].map(({ until }) => until - now),
    advance(milliseconds) {
      now += milliseconds;
      for (const wait of waits) if (wait.until <= now) wait.end();
    },
    wait(milliseconds, signal) {
      if (signal.aborted) return Promise.resolve();
      return new Promise(resolve => {
        const end = () => {
          waits.delete(wait);
          resolve();
        };
        const wait = { until: now + milliseconds, end };
        waits.add(wait);
        signal.addEventListener('abort', end, { once: true });
      });
    },
  };
}

export interface ListenerWorld extends AsyncDisposable {
  readonly gerrit: FakeGerrit;
  readonly ssh: FakeSsh;
  readonly clock: HandClock;
  /** Stored events, of each delivery id the first; marks left out. */
  readonly stored: NewConnectionEvent[];
  readonly passes: HostPass[];
  readonly warnings: string[];
  /** How often it was asked whether topics are submitted as a whole. */
  topicsAsked: number;
  /** What listings gave to the reader. */
  readonly listed: number[];
  readonly state: () => StreamState | undefined;
  readonly tenants: Set<string>;
  /** Gets each event before it is stored. */
  emitting: (event: NewConnectionEvent) => Promise<void>;
  /** Changes that processing knows as they are, by number. */
  readonly known: Set<number>;
  listen(facts?: Partial<GerritListenerDeps['options']>): void;
  /** Ends `listen`. */
  stop(): Promise<void>;
  /** Resolves when it is so. */
  until(isSo: () => boolean): Promise<void>;
  /** As `until`, with this much time for each look. */
  pass(milliseconds: number, isSo: () => boolean): Promise<void>;
}

/** Number of the change that the event is about; undefined: of none. */
export function changeOf({ payload }: NewConnectionEvent): number | undefined {
  const about = readGerritNotification(payload)?.about;
  return about?.kind === 'change' ? about.number : undefined;
}

/** @param mostBytes of one answer of Gerrit; absent: as in the service. */
export async function openListenerWorld(mostBytes?: number): Promise<ListenerWorld> {
  const clock = handClock();
  const gerrit = await startFakeGerrit({ now: clock.ms });
  const pair = newKeyPair();
  const ssh = await startGerritSsh(gerrit, { gatehouse: pair });
  const memory = new Map<string, Json>();
  const ids = new Set<string>();
  let stop = new AbortController();
  let listening: Promise<void> = Promise.resolve();
  let state: StreamState | undefined;
  const clients: { close(): void }[] = [];

  const world: ListenerWorld = {
    ...{ gerrit, ssh, clock, stored: [], passes: [], warnings: [], listed: [], topicsAsked: 0 },
    ...{ tenants: new Set(['acme/app']), known: new Set(), state: () => state, emitting: async () => {} },
    listen(facts = {}) {
      stop = new AbortController();
      const client = openGerritClient(
        {
          baseUrl: gerrit.url,
          auth: { kind: 'basic', user: 'gatehouse', password: new Secret('gatehouse-password') },
          verifySsl: true,
          concurrency: 4,
        },
        {
          ...{ connection: 'gerrit', clock, pause, noted() {}, asked() {} },
          ...(mostBytes === undefined ? {} : { mostBytes }),
        },
      );
      clients.push(client);
      const log = (facts: object, text: string) =>
        void world.warnings.push(`${text} ${JSON.stringify(facts)}`);
      const files: { readonly [path: string]: string } = { '/key': pair.private, '/known': ssh.knownHosts };
      const listener = createGerritListener({
        api: client.api,
        clock,
        wait: clock.wait,
        random: () => 1,
        log: { debug() {}, info() {}, warn: log },
        reader: {
          listed: infos => void world.listed.push(...infos.map(({ number }) => number)),
          async submitsTopics() {
            world.topicsAsked += 1;
            return { kind: 'ok', status: 200, data: false };
          },
        },
        isRemembered: async ({ number }) => world.known.has(number),
        noted: next => {
          state = next ?? state;
        },
        readFile: async path => (files[path] === undefined ? undefined : Buffer.from(files[path])),
        options: {
          server: '127.0.0.1',
          ssh: { user: 'gatehouse', port: ssh.port, key: '/key', knownHosts: '/known' },
          ...{ streams: true, keepAlive: 15, pollInterval: 60, ...facts },
        },
      });
      listening = listener.listen({
        async emit(event) {
          await world.emitting(event);
          if (ids.has(event.deliveryId)) return;
          ids.add(event.deliveryId);
          const about = readGerritNotification(event.payload)?.about;
          if (about?.kind !== 'mark') world.stored.push(event);
          else for (const { key, value } of processMark(about).memory) memory.set(key, value ?? null);
        },
        projects: () => new Set([...world.tenants].map(name => projectKey({ connection: 'gerrit', name }))),
        memory: { get: async key => memory.get(key) },
        signal: stop.signal,
        isLive: async () => false,
        passed: async pass => void world.passes.push(pass),
      });
    },
    async stop() {
      stop.abort();
      await listening;
    },
    async until(isSo) {
      while (!isSo()) await new Promise(resolve => setTimeout(resolve, 5));
    },
    async pass(milliseconds, isSo) {
      while (!isSo()) {
        clock.advance(milliseconds);
        await new Promise(resolve => setTimeout(resolve, 5));
      }
    },
    async [Symbol.asyncDispose]() {
      await world.stop();
      for (const client of clients) client.close();
      await ssh[Symbol.asyncDispose]();
      await gerrit[Symbol.asyncDispose]();
    },
  };
  return world;
}
