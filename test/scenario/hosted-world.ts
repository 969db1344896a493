/**
 * A service and a code host in one process, for stories about a driver: the real service with the real driver over HTTP and git, and
 * jobs that end when the story ends them. Each driver's stories add what people do at their host (test/github/stories/github-world.ts).
 *
 * A change is named by its number at the host. A job is written `<job>: <numbers it is tested with, oldest first>`.
 */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { FinishedItem, LiveItem } from '../../src/api/live-item.ts';
import { type Api, createApi } from '../../src/cmd/client/api.ts';
import type { Service } from '../../src/cmd/service/service.ts';
import { type Clock, systemClock } from '../../src/lib/clock.ts';
import { checkTraces, type OtlpSink, startOtlpSink } from '../fake/otlp-sink.ts';
import { noteStory } from '../fake/produced/note-story.ts';
import { type Observer, observe } from './observer.ts';
import { restartSite, type SiteOptions, type SiteStore, startSite, stateOf } from './site.ts';
import { openStage, type Stage } from './stage.ts';
import { type StoryLog, storyLog } from './story-log.ts';

/** The code host of a story, with its repositories. */
export interface StoryHost extends AsyncDisposable {
  /** Of the connection's section. Files that they name are below the root's `etc`. */
  readonly driverLines: readonly string[];
  /** Untrusted projects. */
  readonly projects: readonly string[];
  /** Default `org/config`. */
  readonly configProject?: string;
  /** Where its webhooks go from now on: the address of the service. */
  notify(url: string): void;
  /** Resolves when what it announced was answered. */
  settled(): Promise<void>;
  /** Resolves when every request taken so far was carried out, also those whose sender is gone. */
  carriedOut(): Promise<void>;
  /** Where the service, or the host's fake, broke the host's rules. */
  takeViolations(): readonly string[];
}

/** As {@link StoryHost} has it. */
type FarHost = Pick<StoryHost, 'driverLines' | 'projects' | 'notify' | 'settled'>;

/** What a story of any host may set. */
export interface HostedSetup {
  /** A host of the connection `far`, which the story starts and ends. */
  readonly far?: FarHost;
  /** Lines of the executor's own connection section, of a service of its own. Both use this store. */
  readonly executorApart?: {
    readonly store: Extract<SiteStore, { readonly kind: 'zookeeper' }>;
    readonly driverLines: (lines: readonly string[]) => readonly string[];
  };
  /** Default: the embedded one. */
  readonly store?: SiteStore;
  /** Warnings and errors of the log that belong to the story. */
  readonly expectedTrouble?: readonly RegExp[];
  readonly clock?: Clock;
  /** More lines of the tenant in the tenant file. */
  readonly tenantOptions?: readonly string[];
  /** Every line of the log is kept. */
  readonly keepsLog?: boolean;
}

/** A change at the host. */
interface HostedChange {
  readonly project: string;
  readonly number: number;
}

export interface HostedWorld extends AsyncDisposable {
  readonly api: Api;
  /** Over the service's own socket, as an operator on its machine. */
  readonly operator: Api;
  readonly service: Service;
  readonly observer: Observer;
  readonly stage: Stage;
  readonly sink: OtlpSink;
  readonly log: StoryLog;
  /** The service's state directory. */
  readonly state: string;
  /** The job's runs for the change end with status 1. */
  fail(job: string, change: Pick<HostedChange, 'number'>): void;
  /** Lets running jobs that match end: `<job>: <numbers>`. */
  release(pattern: RegExp): void;
  /** From now on jobs end as soon as they begin. */
  free(): void;
  /** Waits until exactly these jobs run, in any order, and nothing else moves. */
  runs(...jobs: readonly string[]): Promise<void>;
  /** Waits until the item of the change has left the pipeline, and checks its result. Of several items the newest. */
  left(change: HostedChange, result: string, pipeline: string): Promise<FinishedItem>;
  live(change: HostedChange, pipeline: string): LiveItem | undefined;
  /** Stops the service and starts it again. @param ending called when it has begun to stop, and may still wait for the host. */
  restart(ending?: () => void): Promise<void>;
  /** Lets go what is held, waits until all items have left and the host is quiet, and checks what must hold for every story. */
  end(): Promise<void>;
}

/** Jobs run without isolation here, so that the story can end them. */
const ALWAYS_EXPECTED = [/isolat|sandbox/i];

/** @param prefix of the folder. @returns a folder that other users may enter: where the tests run as root, jobs run as another user. */
export async function storyFolder(prefix: string): Promise<string> {
  const root = await mkdtemp(path.join(tmpdir(), prefix));
  await chmod(root, 0o755);
  return root;
}

/**
 * Starts the service.
 *
 * @param root made by {@link storyFolder}; removed at the end.
 * @param openHost starts the host. @param opening the stage whose playbook the host's configuration project has.
 */
export async function openHostedWorld<Host extends StoryHost>(
  root: string,
  setup: HostedSetup,
  openHost: (stage: Stage) => Promise<Host>,
): Promise<{ readonly host: Host; readonly world: HostedWorld }> {
  const { far } = setup;
  const stage = await openStage(path.join(root, 'stage'));
  const host = await openHost(stage);
  const sink = await startOtlpSink({ protocol: 'grpc' });
  const log = storyLog({ keepsAll: setup.keepsLog ?? false });
  const site: SiteOptions = {
    root,
    projects: host.projects,
    ...(host.configProject === undefined ? {} : { configProject: host.configProject }),
    moreTenants: [],
    tenantOptions: setup.tenantOptions,
    collector: sink.url,
    tracingOff: false,
    executor: [],
    tracing: [],
    sections: [],
    store: setup.executorApart?.store ?? setup.store ?? { kind: 'embedded' },
    ...(setup.executorApart === undefined ? {} : { components: ['scheduler', 'merger', 'web'] as const }),
    clock: setup.clock ?? systemClock(),
    driverLines: host.driverLines,
    ...(far === undefined ? {} : { far: far.projects, farLines: far.driverLines }),
  };
  const observed = (service: Service): Running => {
    host.notify(service.url);
    far?.notify(service.url);
    const api = createApi(service.url);
    const observer: Observer = observe({
      api,
      stage,
      sink,
      traced: () => false,
      describe: () => `${describeItems(observer)}\n${log.tail()}`,
    });
    return { service, api, observer };
  };
  let running = observed(await startSite(site, log.log));
  await using apart = new AsyncDisposableStack();
  if (setup.executorApart !== undefined) {
    const executor = await startSite(executorSite(site, setup.executorApart.driverLines), log.log);
    apart.defer(() => executor.close());
  }
  const world = makeHostedWorld({
    root,
    apart: apart.move(),
    host,
    stage,
    sink,
    log,
    setup,
    running: () => running,
    async restart(ending) {
      await running.observer[Symbol.asyncDispose]();
      const closed = running.service.close();
      ending?.();
      await closed;
      // The host may carry out what it took from the service that ended; a story has that behind it when the next one looks.
      await host.carriedOut();
      running = observed(await restartSite(site, host.projects, log.log));
    },
  });
  return { host, world };
}

/** A machine that runs jobs: mirrors and directories of its own. */
function executorSite(
  site: SiteOptions,
  linesOf: (lines: readonly string[]) => readonly string[],
): SiteOptions {
  return {
    ...site,
    root: path.join(site.root, 'executor'),
    components: ['executor'],
    driverLines: linesOf(site.driverLines ?? []),
  };
}

interface Running {
  readonly service: Service;
  readonly api: Api;
  readonly observer: Observer;
}

interface Parts extends Pick<HostedWorld, 'stage' | 'sink' | 'log' | 'restart'> {
  readonly root: string;
  readonly host: StoryHost;
  /** Services beside the running one. */
  readonly apart: AsyncDisposableStack;
  readonly setup: HostedSetup;
  readonly running: () => Running;
}

function makeHostedWorld(parts: Parts): HostedWorld {
  const { root, stage, sink, log } = parts;
  const observer = () => parts.running().observer;
  return {
    stage,
    sink,
    log,
    state: stateOf(root),
    operator: createApi({ kind: 'socket', path: path.join(stateOf(root), 'gatehouse.sock') }),
    get api() {
      return parts.running().api;
    },
    get service() {
      return parts.running().service;
    },
    get observer() {
      return observer();
    },
    ...jobsOf(stage, observer),
    async left(change, result, pipeline) {
      const name = `${change.project} ${change.number}`;
      const found = await observer().until(`${name} to leave ${pipeline}`, () =>
        observer().left(isOf(change, pipeline)),
      );
      if (found.result !== result)
        throw new Error(
          `${name} left ${pipeline} with ${found.result} (${found.reason}), expected ${result}`,
        );
      return found;
    },
    live: (change, pipeline) => observer().items().find(isOf(change, pipeline)),
    restart: ending => parts.restart(ending),
    async end() {
      this.free();
      await endStory(parts);
    },
    async [Symbol.asyncDispose]() {
      await observer()[Symbol.asyncDispose]();
      await parts.apart.disposeAsync();
      await parts.running().service.close();
      noteStory(sink.spans, stateOf(root));
      stage[Symbol.dispose]();
      await sink[Symbol.asyncDispose]();
      await parts.host[Symbol.asyncDispose]();
      await rm(root, { recursive: true, force: true });
    },
  };
}

/** What a story does with the jobs that run. */
function jobsOf(
  stage: Stage,
  observer: () => Observer,
): Pick<HostedWorld, 'fail' | 'release' | 'free' | 'runs'> {
  const failures = new Set<string>();
  let held = true;
  function end({ uuid, job, changes }: Stage['builds'][number]): void {
    observer().ending(uuid);
    stage.end(uuid, failures.has(`${job}: ${changes.split(' ').at(-1)}`) ? 1 : 0);
  }
  const named = () =>
    observer()
      .running()
      .map(({ job, changes }) => `${job}: ${changes}`)
      .toSorted();
  stage.onCall(build => {
    if (!held) end(build);
  });
  return {
    fail: (job, { number }) => void failures.add(`${job}: ${number}`),
    release(pattern) {
      const chosen = observer()
        .running()
        .filter(({ job, changes }) => pattern.test(`${job}: ${changes}`));
      if (chosen.length === 0)
        throw new Error(`no running job matches ${pattern}; running: ${named().join(', ')}`);
      for (const build of chosen) end(build);
    },
    free() {
      held = false;
      // Those that the live copy does not show yet, too; one that was killed or has ended no longer listens.
      for (const build of stage.builds) end(build);
    },
    async runs(...jobs) {
      const wanted = JSON.stringify(jobs.toSorted());
      const run = () => JSON.stringify(named()) === wanted;
      await observer().until(`these jobs to run: ${wanted}`, async () => {
        // Settling asks the service several times: only when there is something to confirm.
        if (!run()) return false;
        await observer().settle();
        return run();
      });
    },
  };
}

function isOf({ number, project }: HostedChange, pipeline: string) {
  return (item: { readonly pipeline: string; readonly changes: LiveItem['changes'] }) =>
    item.pipeline === pipeline &&
    item.changes.some(change => change.name === String(number) && change.project === project);
}

async function endStory({ host, setup, log, sink, apart, running }: Parts): Promise<void> {
  const { observer } = running();
  const haveLeft = () => observer.items().length === 0;
  await observer.until('all items to leave', async () => {
    if (!haveLeft()) return false;
    await observer.settle();
    return haveLeft();
  });
  await Promise.all([host.settled(), setup.far?.settled()]);
  await observer[Symbol.asyncDispose]();
  await apart.disposeAsync();
  await running().service.close();
  const expected = [...ALWAYS_EXPECTED, ...(setup.expectedTrouble ?? [])];
  const problems = [
    ...log.trouble
      .filter(line => !expected.some(pattern => pattern.test(line)))
      .map(line => `the log says: ${line}`),
    ...checkTraces(sink.spans),
    ...host.takeViolations().map(each => `the host's rules: ${each}`),
  ];
  if (problems.length > 0) throw new Error(`at the end of the story:\n${problems.join('\n')}`);
}

/** For the message of a condition that was never met. */
function describeItems(observer: Observer): string {
  const items = observer.items().map(item => {
    const jobs = item.jobs.map(job => `${job.name} ${job.result ?? job.state}`).join(', ');
    return `${item.pipeline} ${item.changes.map(change => change.text).join(' ')}: ${item.state.name} ${item.state.subject ?? ''} [${jobs}]`;
  });
  return [
    ...items,
    `running: ${
      observer
        .running()
        .map(build => `${build.job}: ${build.changes}`)
        .join('; ') || 'nothing'
    }`,
  ].join('\n');
}
