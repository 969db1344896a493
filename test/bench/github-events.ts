/**
 * Stage 2 of a connection with the real GitHub driver, from the queue of events to the tenants' queue.
 *
 * Oracle: every pull request is reported to the tenant.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { NewConnectionEvent } from '../../src/driver/intake.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { randomIds } from '../../src/lib/ids.ts';
import { projectKey } from '../../src/model/project.ts';
import { connectGithub, receiveWebhooks } from '../conformance/driver/github-host.ts';
import { type FakeGithub, startFakeGithub } from '../github/fake/fake-github.ts';
import type { Pull, Repository } from '../github/fake/world.ts';
import { openConnection } from '../unit/scheduler/events/connection-stand.ts';
import { openStand } from '../unit/scheduler/stand.ts';
import type { Row } from './main.ts';

const HOST_MS = 300;
const REPOSITORIES = 20;
const PULLS = 100;
const STORM = { events: 2_000, heads: 40, seconds: 10, hostMs: 50 };

export async function benchGithubEvents(): Promise<readonly Row[]> {
  await using stack = new AsyncDisposableStack();
  const { github, connection, delivered, repositories, pulls } = await openSite(
    stack,
    REPOSITORIES,
    REPOSITORIES + PULLS,
  );
  const stage = await connection();
  for (const each of delivered.splice(0, REPOSITORIES)) await stage.offer(each); // warm: credentials and rules are known
  await stage.drained();
  late(github, HOST_MS);
  const from = github.requests.length;
  const begun = performance.now();
  for (const each of delivered) await stage.offer(each);
  await stage.drained();
  const seconds = (performance.now() - begun) / 1000;
  const reported = await stage.reported();
  if (reported.size !== pulls.length)
    throw new Error(`${reported.size} of ${pulls.length} pull requests were reported`);
  const name = `${PULLS} events of ${repositories.length} repositories, ${HOST_MS} ms at the host, handed on after`;
  return [
    { name, value: seconds, unit: 's' },
    { name: 'for them', value: github.requests.length - from, unit: 'API requests' },
  ];
}

/** 2 000 statuses of 40 heads in 10 s. Oracle: two reads of each head at most. */
export async function benchStatusStorm(): Promise<readonly Row[]> {
  await using stack = new AsyncDisposableStack();
  const { github, connection, delivered, repositories, pulls } = await openSite(stack, 1, STORM.heads);
  const stage = await connection();
  for (const each of delivered.splice(0)) await stage.offer(each);
  await stage.drained();
  late(github, STORM.hostMs);
  const [app] = repositories;
  if (app === undefined) throw new Error('no repository');
  for (const { now } of pulls) await github.status(app, now.head, 'ci', 'pending');
  const [sample] = delivered.splice(0);
  if (sample === undefined) throw new Error('no webhook of a status');
  const from = github.requests.length;
  const begun = performance.now();
  for (let at = 0; at < STORM.events; at++) {
    const due = begun + (at * STORM.seconds * 1000) / STORM.events;
    if (due > performance.now()) await delay(due - performance.now());
    await stage.offer(ofHead(sample, pulls[at % pulls.length], pulls[0]));
  }
  await stage.drained();
  const seconds = (performance.now() - begun) / 1000;
  const requests = github.requests.length - from;
  if (requests > 2 * STORM.heads) throw new Error(`${requests} requests for ${STORM.heads} heads`);
  return [
    {
      name: `${STORM.events} statuses of ${STORM.heads} heads in ${STORM.seconds} s, all processed after`,
      value: seconds,
      unit: 's',
    },
    { name: 'for them', value: requests, unit: 'API requests' },
  ];
}

/** The webhook of one head as one of another. */
function ofHead(
  sample: NewConnectionEvent,
  pull: Pull | undefined,
  first: Pull | undefined,
): NewConnectionEvent {
  const text = JSON.stringify(sample.payload).replaceAll(first?.now.head ?? '-', pull?.now.head ?? '-');
  return { ...sample, payload: JSON.parse(text) };
}

function late(github: FakeGithub, ms: number): void {
  github.faults.add({ operation: /^(?!git\/)/, times: Number.POSITIVE_INFINITY, does: { kind: 'late', ms } });
}

async function openSite(stack: AsyncDisposableStack, repositoryCount: number, pullCount: number) {
  const github = stack.use(await startFakeGithub({ webhook: { secret: 'webhook-secret' } }));
  const repositories: Repository[] = [];
  for (let at = 0; at < repositoryCount; at++) repositories.push(await github.repository(`acme/r${at}`));
  await github.install('acme');
  const driver = await connectGithub(github, 'push', stack);
  const delivered: NewConnectionEvent[] = [];
  github.webhook.url = await receiveWebhooks(driver.connection, delivered, stack);
  const pulls: Pull[] = [];
  for (let at = 0; at < pullCount; at++) {
    const repository = repositories[at % repositoryCount];
    if (repository !== undefined)
      pulls.push(await github.openPull(repository, { files: { [`${at}.txt`]: 'x\n' } }));
  }
  const projects = new Set(
    repositories.map(({ owner, name }) => projectKey({ connection: 'local', name: `${owner}/${name}` })),
  );
  return {
    github,
    repositories,
    pulls,
    delivered,
    async connection() {
      const stand = stack.use(openStand());
      const opened = await openConnection(stand);
      const holder = await opened.hold(driver.connection.source, { projects });
      stack.defer(() => holder.end());
      const [clock, ids] = [systemClock(), randomIds()];
      return {
        async offer(event: NewConnectionEvent) {
          const now = clock.now();
          const id = ids.uuid();
          const stored = {
            ...event,
            uuid: id,
            deliveryId: id,
            connection: 'local',
            receivedAt: now,
            storedAt: now,
            sampled: true,
          };
          await opened.queue.offer(stored, id);
        },
        async drained() {
          while ((await opened.queue.depth()) > 0) await delay(5);
        },
        async reported() {
          const entries = await opened.tenantQueue.list();
          return new Set(
            entries.flatMap(({ value }) => (value.kind === 'trigger' ? [value.trigger.change.key] : [])),
          );
        },
      };
    },
  };
}
