/** What a story can do and see, put together from a running site. */
import { createHmac } from 'node:crypto';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import type { LiveItem } from '../../src/api/live-item.ts';
import { type Api, createApi } from '../../src/cmd/client/api.ts';
import type { Service } from '../../src/cmd/service/service.ts';
import type { GitHttpHost } from '../fake/git-http-host.ts';
import type { OtlpSink } from '../fake/otlp-sink.ts';
import { noteStory } from '../fake/produced/note-story.ts';
import { type ContractSite, contractPeople, type People } from './contract-people.ts';
import type { Developer } from './developer.ts';
import { checkStory } from './invariants.ts';
import type { Observer } from './observer.ts';
import { outcomes, type Topic } from './outcomes.ts';
import { CONNECTION, configOf, FAR, stateOf, TOKEN } from './site.ts';
import type { Stage } from './stage.ts';
import type { StoryLog } from './story-log.ts';
import { nameOf, shownTopic } from './topic-names.ts';
import type { World, WorldSetup } from './world.ts';

export interface RunningSite {
  readonly service: Service;
  readonly api: Api;
  readonly observer: Observer;
}

export interface Parts {
  readonly root: string;
  readonly setup: WorldSetup;
  readonly sink: OtlpSink;
  readonly stage: Stage;
  readonly host: GitHttpHost | undefined;
  readonly contract: ContractSite | undefined;
  readonly log: StoryLog;
  readonly developers: ReadonlyMap<string, Developer>;
  readonly begun: RunningSite;
  restart(projects: readonly string[]): Promise<RunningSite>;
  /** The hooks of the repositories, and who listens to them. */
  readonly hooks: Disposable;
  readonly pushes: { heard: (project: string) => void };
}

export function makeWorld(parts: Parts): World {
  const { root, setup, sink, stage, host, contract, log, developers, hooks, pushes } = parts;
  let site = parts.begun;
  const topics = new Map<string, Topic>();
  const failures = new Set<string>();
  let held = true;
  let deliveries = 0;

  const developer = (project: string) => needed(developers.get(project), `project ${project}`);
  const topicOf = (topic: string) => needed(topics.get(topic), `topic ${topic}`);
  const verdict = (job: string, changes: string) =>
    failures.has(`${job}: ${changes.split(' ').at(-1)}`) ? 1 : 0;

  function end(uuid: string, job: string, changes: string): void {
    site.observer.ending(uuid);
    stage.end(uuid, verdict(job, changes));
  }

  stage.onCall(build => {
    if (!held) end(build.uuid, build.job, build.changes);
  });

  // What the gate pushes comes back to it as a webhook, as from any code host.
  pushes.heard = project => {
    deliver(project).catch(error => log.log.error({ err: error }, 'the story could not deliver a webhook'));
  };

  /** @returns the delivery id. */
  async function deliver(project: string): Promise<string> {
    deliveries += 1;
    const connection = setup.far !== undefined && project in setup.far ? FAR : CONNECTION;
    const delivery = `story-${deliveries}`;
    const body = JSON.stringify({ project });
    const signature = createHmac('sha256', TOKEN).update(body).digest('hex');
    const response = await fetch(`${site.service.url}/api/connection/${connection}/payload`, {
      method: 'POST',
      body,
      headers: {
        'Content-Type': 'application/json',
        'X-Gatehouse-Delivery': delivery,
        'X-Gatehouse-Signature': `sha256=${signature}`,
      },
    });
    if (!response.ok) throw new Error(`the webhook was refused: ${await response.text()}`);
    return `delivery-${delivery}`;
  }

  async function push(project: string, to: string | null, ref: string): Promise<void> {
    await developer(project).push(to, ref);
    // One after the other: the order of two pushes that arrive together is not known.
    await site.observer.eventProcessed(await deliver(project));
  }

  const people: People =
    contract === undefined
      ? gitPeople(push)
      : contractPeople(contract.host, {
          site: () => site,
          developer,
          problem: error => log.log.error({ err: error }, 'the story could not deliver a webhook'),
        });

  const isOf =
    (topic: string, pipeline: string) =>
    (item: { readonly pipeline: string; readonly changes: LiveItem['changes'] }) =>
      item.pipeline === pipeline &&
      item.changes.some(
        change =>
          change.name === nameOf(topic, topicOf(topic).branch) && change.project === topicOf(topic).project,
      );

  function running(): readonly string[] {
    return site.observer
      .running()
      .map(build => `${build.job}: ${build.changes}`)
      .toSorted();
  }

  function free(): void {
    held = false;
    // Those that the live copy does not show yet, too; one that was killed or has ended no longer listens.
    for (const build of stage.builds) end(build.uuid, build.job, build.changes);
  }

  const world: World = {
    get api() {
      return site.api;
    },
    get service() {
      return site.service;
    },
    operator: createApi({ kind: 'socket', path: path.join(stateOf(root), 'gatehouse.sock') }),
    config: configOf(root),
    sink,
    stage,
    host,
    contract: contract?.host,
    get observer() {
      return site.observer;
    },
    log,
    developer,
    push,
    async propose(topic, { project = 'org/project', branch = 'master', files, on, message = '' } = {}) {
      const commit = await developer(project).commit({
        files: files ?? { [`${topic}.txt`]: `${topic}, ${topics.has(topic) ? 'again' : 'first'}\n` },
        message: `Change ${topic}${message === '' ? '' : `\n\n${message}`}`,
        branch,
        ...(on === undefined ? {} : { parent: topicOf(on).commit }),
      });
      topics.set(topic, { project, branch, commit });
      await people.propose(project, branch, topic, commit);
      return commit;
    },
    async approve(topic, commit) {
      const known = topicOf(topic);
      await people.approve(known.project, known.branch, topic, commit ?? known.commit);
    },
    async withdraw(topic) {
      const { project, branch } = topicOf(topic);
      await people.withdraw(project, branch, topic);
    },
    async abandon(topic) {
      const { project, branch } = topicOf(topic);
      await people.abandon(project, branch, topic);
    },
    ignoreHooks() {
      pushes.heard = () => {};
    },
    fail: (job, topic) => void failures.add(`${job}: ${topic}`),
    pass: (job, topic) => void failures.delete(`${job}: ${topic}`),
    release(pattern) {
      const chosen = site.observer.running().filter(build => pattern.test(`${build.job}: ${build.changes}`));
      if (chosen.length === 0)
        throw new Error(`no running job matches ${pattern}; running: ${running().join(', ')}`);
      for (const build of chosen) end(build.uuid, build.job, build.changes);
    },
    free,
    async restart(...projects) {
      await site.observer[Symbol.asyncDispose]();
      await site.service.close();
      site = await parts.restart(projects);
    },
    async runs(...jobs) {
      const wanted = JSON.stringify(jobs.toSorted());
      const run = () => JSON.stringify(running()) === wanted;
      // To settle takes several questions to the service, and the live feed wakes us often.
      await site.observer.until(`these jobs to run: ${wanted}`, async () => {
        if (!run()) return false;
        await site.observer.settle();
        return run();
      });
    },
    async leaves(topic, result, pipeline = 'gate') {
      const found = await site.observer.until(`${topic} to leave ${pipeline}`, () =>
        site.observer.left(isOf(topic, pipeline)),
      );
      if (found.result !== result)
        throw new Error(
          `${topic} left ${pipeline} with ${found.result} (${found.reason}), expected ${result}`,
        );
      return found;
    },
    item: (topic, pipeline = 'gate') => site.observer.items().find(isOf(topic, pipeline)),
    queued(pipeline = 'gate') {
      const queues = site.observer.view()?.pipelines.find(each => each.name === pipeline)?.queues ?? [];
      return queues.flatMap(queue =>
        queue.items.map(uuid => shownTopic(site.observer.view()?.items.get(uuid)?.changes[0]?.name ?? uuid)),
      );
    },
    ...outcomes({ site: () => site, stage, developer, topicOf }),
    async end() {
      free();
      const haveLeft = () => site.observer.items().length === 0;
      await site.observer.until('all items to leave', async () => {
        if (!haveLeft()) return false;
        await site.observer.settle();
        return haveLeft() && (await areEmpty(world.operator, setup.moreTenants ?? []));
      });
      pushes.heard = () => {};
      people.leave();
      await site.observer[Symbol.asyncDispose]();
      await site.service.close();
      await checkStory({
        root,
        sink,
        log,
        projects: [...developers.values()],
        expectedTrouble: setup.expectedTrouble ?? [],
      });
    },
    async [Symbol.asyncDispose]() {
      await site.observer[Symbol.asyncDispose]();
      await site.service.close();
      noteStory(sink.spans, stateOf(root));
      stage[Symbol.dispose]();
      hooks[Symbol.dispose]();
      await sink[Symbol.asyncDispose]();
      await host?.[Symbol.asyncDispose]();
      contract?.[Symbol.dispose]();
      await rm(root, { recursive: true, force: true });
    },
  };
  return world;
}

/** With the git driver a deed is a push. */
function gitPeople(push: (project: string, to: string | null, ref: string) => Promise<void>): People {
  const proposal = (branch: string, topic: string) => `refs/heads/for/${branch}/${topic}`;
  const approval = (branch: string, topic: string) => `refs/heads/gate/${branch}/${topic}`;
  return {
    propose: (project, branch, topic, commit) => push(project, commit, proposal(branch, topic)),
    approve: (project, branch, topic, commit) => push(project, commit, approval(branch, topic)),
    withdraw: (project, branch, topic) => push(project, null, approval(branch, topic)),
    abandon: (project, branch, topic) => push(project, null, proposal(branch, topic)),
    leave: () => {},
  };
}

function needed<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`this story has no ${what}`);
  return value;
}

/** What a story waits for is about its first tenant; others run beside it. */
async function areEmpty(api: Api, tenants: readonly string[]): Promise<boolean> {
  const documents = await Promise.all(
    tenants.map(tenant => api.get<TenantStatus>(`/api/tenant/${tenant}/status`)),
  );
  return documents.every(({ pipelines }) =>
    pipelines.every(
      ({ trigger_events: events, change_queues: queues }) => events === 0 && queues.length === 0,
    ),
  );
}

interface TenantStatus {
  readonly pipelines: readonly {
    readonly trigger_events: number;
    readonly change_queues: readonly unknown[];
  }[];
}
