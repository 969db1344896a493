/**
 * A Gerrit for tests: real HTTP, real git, the shapes, refusals and the order of events of a real Gerrit 3.2 (and after its
 * documentation, of 3.11 with submit requirements).
 *
 *     await using gerrit = await startFakeGerrit();
 *     await gerrit.project('acme/app');                                  // real bare repository, one commit on master
 *     const change = await gerrit.push({ project: 'acme/app', files: { 'a.txt': 'a\n' }, message: 'Add a' });
 *     await gerrit.vote(change, 'bob', { 'Code-Review': 2, Workflow: 1 });
 *     const stop = gerrit.world.onEvent(({ json, visibleTo }) => …);     // as a line of stream-events
 *     await fetch(`${gerrit.url}/a/changes/${change.number}/detail`, { headers: { authorization: gerrit.basic('gatehouse') } });
 *
 * Accounts that are there: `admin` (Administrators), `alice`, `bob`, `gatehouse` (CI: Verified±2, submit, stream events). Passwords
 * are `<username>-password`, tokens `git-<username>-token`. Disposing throws what went wrong in the fake itself.
 *
 *     fake-gerrit.ts    start, and what a test holds       world.ts        state, versions of it for a lagging index
 *     server.ts         HTTP: name, log, fail, do          actor.ts        Basic, Digest, Bearer, cookie
 *     rest/*.ts         requests by area; routes.ts        doing/*.ts      what is done, by REST, git or people alike
 *     change-shape.ts   ChangeInfo; label-shape.ts         expression.ts   queries and submit requirements
 *     submittable.ts    labels' functions, requirements    authority.ts    who may what; defaults.ts
 *     events.ts         stream events                      deeds/*.ts      what people do
 *     ssh-door.ts       stream and commands; ssh/*.ts: SSH  webhooks.ts     the same events as posts
 *     git-http.ts       fetch; receive-pack.ts, refs-for.ts: push       bare-git.ts, commits.ts, merges.ts
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createFaults, type Faults } from '../../fake/code-host/faults.ts';
import type { HttpAuth } from './actor.ts';
import { type ChangeDeeds, changeDeeds } from './deeds/changes.ts';
import { type ProjectDeeds, projectDeeds } from './deeds/projects.ts';
import { type GerritRequestLog, startGerritServer } from './server.ts';
import { openSshDoor, type SshDoor } from './ssh-door.ts';
import { createWebhooks, type Webhooks } from './webhooks.ts';
import { accountNamed, type EmittedEvent, type GerritWorld } from './world.ts';

export interface FakeGerritOptions {
  readonly version?: GerritWorld['version'];
  /** What REST and git take besides tokens and cookies; absent: Basic. */
  readonly auth?: HttpAuth;
  /** Milliseconds; absent: the machine's clock. */
  readonly now?: () => number;
  readonly submitWholeTopic?: boolean;
}

export interface FakeGerrit extends ProjectDeeds, ChangeDeeds, AsyncDisposable {
  /** Of page, REST and git, without a trailing slash. */
  readonly url: string;
  readonly world: GerritWorld;
  /** Every event so far, oldest first. */
  readonly events: readonly EmittedEvent[];
  readonly faults: Faults;
  readonly requests: readonly GerritRequestLog[];
  /** How many requests of an operation were taken. */
  count(operation: string): number;
  /** Value of the header `authorization`. */
  basic(username: string): string;
  /** The next queries show what is there now. @param reads how many */
  freezeIndex(reads: number): void;
  /** Opens SSH for one account, with a new key; closed with the fake. */
  openSsh(username?: string): Promise<SshDoor>;
  /** Of the webhooks plug-in; sends nothing before it has a target. */
  readonly webhooks: Webhooks;
  /** Resolves when every request taken so far was carried out, also those whose sender is gone. */
  carriedOut(): Promise<void>;
}

export async function startFakeGerrit(options: FakeGerritOptions = {}): Promise<FakeGerrit> {
  const root = await mkdtemp(path.join(tmpdir(), 'fake-gerrit-'));
  const world = createWorld(options, root);
  const events: EmittedEvent[] = [];
  world.onEvent(event => void events.push(event));
  const failures: string[] = [];
  const faults = createFaults();
  const server = await startGerritServer({ world, faults, auth: options.auth ?? 'basic', failures });
  world.origin = server.origin;
  const doors: AsyncDisposable[] = [];
  const webhooks = createWebhooks(world);
  const projects = projectDeeds(world);
  projects.account('admin', { name: 'Administrator', groups: ['Administrators'] });
  projects.account('alice');
  projects.account('bob');
  projects.account('gatehouse', { name: 'gatehouse CI', groups: ['CI'], capabilities: ['streamEvents'] });
  return {
    ...projects,
    ...changeDeeds(world),
    url: server.origin,
    world,
    events,
    faults,
    requests: server.requests,
    count: operation => server.requests.filter(each => each.operation === operation).length,
    basic(username) {
      const { httpPassword } = accountNamed(world, username);
      return `Basic ${Buffer.from(`${username}:${httpPassword}`).toString('base64')}`;
    },
    freezeIndex(reads) {
      world.index.frozen = { step: world.step, reads };
    },
    async openSsh(username = 'gatehouse') {
      const door = await openSshDoor(world, username, faults);
      doors.push(door);
      return door;
    },
    webhooks,
    carriedOut: server.carriedOut,
    async [Symbol.asyncDispose]() {
      for (const door of doors) await door[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
      await webhooks.settled();
      await rm(root, { recursive: true, force: true });
      if (failures.length > 0) throw new Error(`the fake Gerrit failed:\n${failures.join('\n')}`);
    },
  };
}

function createWorld(
  { version = '3.2', now = Date.now, submitWholeTopic = false }: FakeGerritOptions,
  root: string,
): GerritWorld {
  let ids = 1;
  let numbers = 1;
  let queue: Promise<unknown> = Promise.resolve();
  const listeners = new Set<(event: EmittedEvent) => void>();
  return {
    version,
    origin: '',
    root,
    accounts: new Map(),
    projects: new Map(),
    changes: new Map(),
    submitWholeTopic,
    index: { ms: 0, frozen: null },
    step: 0,
    now,
    nextId: () => ids++,
    nextNumber: () => numbers++,
    exclusively(work) {
      const done = queue.then(work);
      queue = done.catch(() => {});
      return done;
    },
    emit(event) {
      for (const listener of listeners) listener(event);
    },
    onEvent(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
