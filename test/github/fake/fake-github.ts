/**
 * A GitHub for tests: real HTTP, real git, GitHub's own OpenAPI, GraphQL and webhook schemas as judges.
 *
 *     await using github = await startFakeGithub();
 *     const app = await github.repository('acme/app');        // real bare repository, one commit on main
 *     await github.install('acme');                           // the App, with all permissions
 *     github.webhook.url = `${service}/api/connection/github/payload`;
 *     const pull = await github.openPull(app, { files: { 'a.txt': 'a\n' }, title: 'Add a' });
 *     await github.review(app, pull, 'bob', 'APPROVED');      // resolves when the webhooks were answered
 *     await github.settled();                                 // so do the webhooks of what the driver did
 *
 * A request that GitHub's description does not allow is answered 400 and kept in `violations`; so is an answer of the fake that
 * it does not allow, a webhook that its schema does not, and a query that its schema does not. Disposing throws what is in
 * `violations`: a test that breaks the rules on purpose takes them with `takeViolations`.
 *
 *     fake-github.ts      start, and what a test holds           world.ts         state
 *     server.ts           HTTP: name, judge, count, do           faults.ts        what goes wrong, by script
 *     answer-rest.ts      one REST request                       rest/*.ts        handlers by area
 *     graphql/*.ts        GitHub's schema over the world         openapi.ts       the description as judge (../schema: slices)
 *     actor.ts            JWT, tokens        authority.ts        who may what     limits.ts   limits, counted
 *     git-http.ts         smart HTTP         push-rules.ts, pre-receive.ts       protected branches
 *     refs-moved.ts       what follows a push: synchronize, merged by push
 *     events.ts           webhooks from GitHub's examples        deliveries.ts    sent, logged, redelivered, lost
 *     deeds/*.ts          what people do
 *     contexts.ts         what checks, reviews and rules say     shapes.ts, pull-shape.ts   GitHub's JSON
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createFaults, type Faults } from '../../fake/code-host/faults.ts';
import { type Credentials, createCredentials } from './actor.ts';
import { ALL_EVENTS, type InstallationDeeds, installationDeeds } from './deeds/installations.ts';
import { type MergeQueueDeeds, mergeQueueDeeds } from './deeds/merge-queue.ts';
import { type PullDeeds, pullDeeds } from './deeds/pulls.ts';
import { type RepositoryDeeds, repositoryDeeds } from './deeds/repositories.ts';
import { createDeliveries, type Delivery, type HookFault, type HookTarget } from './deliveries.ts';
import { createEvents } from './events.ts';
import { createLimits, type Meter } from './limits.ts';
import { description, type Product } from './openapi.ts';
import type { Hub } from './rest/call.ts';
import { type FakeRequest, startServer } from './server.ts';
import type { World } from './world.ts';

export interface FakeGithubOptions {
  readonly product?: Product;
  readonly appId?: number;
  /** Milliseconds; absent: the machine's clock. */
  readonly now?: () => number;
  readonly webhook?: HookTarget;
}

export interface FakeGithub
  extends RepositoryDeeds,
    PullDeeds,
    InstallationDeeds,
    MergeQueueDeeds,
    AsyncDisposable {
  /** For git and people: `<url>/<owner>/<name>.git`. */
  readonly url: string;
  /** Root of the REST API; GraphQL is beside it as at GitHub. */
  readonly apiUrl: string;
  readonly graphqlUrl: string;
  readonly app: {
    readonly id: number;
    readonly slug: string;
    readonly clientId: string;
    readonly privateKey: string;
  };
  /** Where deliveries go; may be set later. */
  readonly webhook: HookTarget;
  /** Every delivery that was tried, oldest first. */
  readonly deliveries: readonly Delivery[];
  /** Faults of the next deliveries, one each; `down` while all are lost. */
  readonly hooks: {
    readonly faults: HookFault[];
    down: boolean;
    release(): void;
    redeliver(id: number): boolean;
  };
  readonly faults: Faults;
  readonly requests: readonly FakeRequest[];
  /** How many requests of an operation were taken. */
  count(operation: string): number;
  readonly violations: readonly string[];
  takeViolations(): readonly string[];
  /** Of an installation by account, of a person by login. */
  limits(name: string): Meter;
  /** Reads lag: by so many milliseconds, or for so many reads. */
  readonly stale: World['stale'];
  readonly world: World;
  /** For tokens with chosen permissions. */
  readonly credentials: Credentials;
  /** A personal access token. */
  token(login: string): string;
  revokeInstallationTokens(account?: string): void;
  deleteUser(login: string): void;
  setEmail(login: string, email: string): void;
  /** Resolves when every delivery queued so far was answered. */
  settled(): Promise<void>;
  /** Resolves when every request taken so far was carried out, also those whose sender is gone. */
  carriedOut(): Promise<void>;
}

export async function startFakeGithub(options: FakeGithubOptions = {}): Promise<FakeGithub> {
  const root = await mkdtemp(path.join(tmpdir(), 'fake-github-'));
  const world = createWorld(options, root);
  const violations: string[] = [];
  const faults = createFaults();
  const credentials = createCredentials(world);
  const deliveries = createDeliveries(world, options.webhook ?? { secret: 'webhook-secret' }, violations);
  const hub: Hub = {
    world,
    credentials,
    deliveries,
    events: createEvents(world, deliveries),
    limits: createLimits(world),
  };
  const server = await startServer({ ...hub, faults, violations });
  const ghes = world.description.product === 'ghes';
  world.origin = server.origin;
  world.api = `${server.origin}${ghes ? '/api/v3' : '/rest'}`;
  return {
    ...repositoryDeeds(hub),
    ...pullDeeds(hub),
    ...installationDeeds(hub),
    ...mergeQueueDeeds(hub),
    url: server.origin,
    apiUrl: world.api,
    graphqlUrl: ghes ? `${server.origin}/api/graphql` : `${world.api}/graphql`,
    app: { ...world.app, privateKey: credentials.privateKey },
    webhook: deliveries.target,
    deliveries: deliveries.log,
    hooks: deliveries,
    faults,
    requests: server.requests,
    count: operation => server.requests.filter(each => each.operation === operation).length,
    violations,
    takeViolations: () => violations.splice(0),
    limits: name => hub.limits.meter(name),
    stale: world.stale,
    world,
    credentials,
    token: credentials.personalToken,
    revokeInstallationTokens: credentials.revokeInstallationTokens,
    deleteUser: login => void world.deletedUsers.add(login),
    setEmail: (login, email) => void world.emails.set(login, email),
    settled: deliveries.settled,
    carriedOut: server.carriedOut,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await deliveries.settled();
      await rm(root, { recursive: true, force: true });
      if (violations.length > 0) throw new Error(`GitHub's rules were broken:\n${violations.join('\n')}`);
    },
  };
}

function createWorld(
  { product = 'github.com', appId = 4242, now = Date.now }: FakeGithubOptions,
  root: string,
): World {
  let ids = 1000;
  return {
    description: description(product),
    app: { id: appId, slug: 'gatehouse', clientId: `Iv1.${appId}`, events: ALL_EVENTS },
    origin: '',
    api: '',
    root,
    repositories: new Map(),
    moved: new Map(),
    installations: new Map(),
    deletedUsers: new Set(),
    emails: new Map(),
    stale: { ms: 0, reads: 0 },
    now,
    nextId: () => ids++,
  };
}
