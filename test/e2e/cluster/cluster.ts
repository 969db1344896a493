/**
 * Gatehouse as a site of some size runs it: any number of processes of each kind on a real ZooKeeper, real repositories, a
 * collector. Every check reads a record kept elsewhere: the server's transaction log, the code host's
 * journal, the collector's spans, the answers of the webs.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { freePort } from '../../../src/cmd/quickstart/service-process.ts';
import { type GitHttpHost, startGitHttpHost } from '../../fake/git-http-host.ts';
import { type OtlpSink, startOtlpSink } from '../../fake/otlp-sink.ts';
import { noteStory } from '../../fake/produced/note-story.ts';
import { builtProgram } from '../../setup/built-program.ts';
import { createDeliveries, type Deliveries } from './deliveries.ts';
import { type Journal, openJournal } from './journal.ts';
import { CONFIG_FILES, CONFIG_PROJECT, CONNECTION, PROJECT_FILES, PROJECTS, TENANT } from './layout.ts';
import type { PlannedChange } from './load.ts';
import { type ClusterProcess, createProcess, type Role } from './process.ts';
import { type Pushed, pushChange, pushChanges, type Webhooks } from './push-change.ts';
import { type Files, type HostedProject, hostProject } from './repositories.ts';
import { SESSION_TIMEOUT, settingsText, tenantsText } from './settings-text.ts';
import { anyOf, openSightings, type Sightings } from './sightings.ts';
import { openTransactionLog, type TransactionLog } from './transaction-log.ts';
import { waitFor } from './wait-for.ts';

export interface ClusterZooKeeper {
  /** `host:port`, one or more, separated by commas. */
  readonly hosts: string;
  /** Of the server that is asked who is connected. */
  readonly port: number;
  /** dataDir of the server (one of them) whose transaction log is read. */
  readonly dataDirectory: string;
}

export interface ClusterOptions {
  /** `embedded`: one process with all roles. */
  readonly store: ClusterZooKeeper | 'embedded';
  /** How many of each; default two. */
  readonly count?: Partial<Record<Role, number>>;
  readonly separateMirrors?: boolean;
  /** Of org/config; default {@link CONFIG_FILES}. */
  readonly configFiles?: Files;
  /** How the service reaches its repositories; default by path. */
  readonly codeHost?: 'path' | 'http';
  /** Seconds between polls; default 0, never. */
  readonly pollInterval?: number;
  /** Seconds; default {@link SESSION_TIMEOUT}. */
  readonly sessionTimeout?: number;
  /** More lines of `[executor]`, by the name of the process. */
  readonly executors?: Readonly<Record<string, string>>;
  /** More of the settings file of each process. */
  readonly sections?: string;
}

export interface Cluster extends AsyncDisposable {
  readonly root: string;
  /** Path in the store. */
  readonly storeRoot: string;
  /** @throws Error when there is none. */
  readonly zookeeper: ClusterZooKeeper;
  readonly processes: readonly ClusterProcess[];
  process(name: string): ClusterProcess;
  ofRole(role: Role): readonly ClusterProcess[];
  /** Addresses of all webs, running or not. */
  readonly webs: readonly string[];
  readonly api: ReturnType<typeof anyOf>;
  readonly projects: ReadonlyMap<string, HostedProject>;
  readonly journal: Journal;
  /** Without ZooKeeper it stays empty. */
  readonly log: TransactionLog;
  /** Undefined: repositories are reached by path. */
  readonly host: GitHttpHost | undefined;
  readonly sink: OtlpSink;
  readonly sightings: Sightings;
  readonly deliveries: Deliveries;
  /** Every change that was pushed for the gate with its webhook, in order. */
  readonly pushed: readonly Pushed[];
  push(change: PlannedChange, sent?: Webhooks): Promise<Pushed>;
  /** One push per project, with one webhook each. */
  pushTogether(changes: readonly PlannedChange[]): Promise<void>;
  /** All processes, and waits until every web says that all is ready. */
  start(): Promise<void>;
  ready(): Promise<void>;
  /** What each process printed last, for a test that failed. */
  describe(): string;
}

const ROLES: readonly Role[] = ['scheduler', 'merger', 'executor', 'web'];
const TOKEN = 'token of the cluster';
const SHOWN_LINES = 25;
/** What there is to read of an embedded store from outside: nothing. */
const NO_LOG: TransactionLog = {
  transactions: [],
  read: () => Promise.resolve([]),
  onTransaction: () => new DisposableStack(),
  [Symbol.dispose]() {},
};

export async function openCluster(options: ClusterOptions): Promise<Cluster> {
  await using stack = new AsyncDisposableStack();
  const root = await mkdtemp(path.join(tmpdir(), 'gatehouse-cluster-'));
  if (process.env.GATEHOUSE_KEEP === undefined)
    stack.defer(() => rm(root, { recursive: true, force: true, maxRetries: 5 }));
  const storeRoot = `/${path.basename(root)}`;
  const sink = stack.use(await startOtlpSink());
  const zookeeper = options.store === 'embedded' ? undefined : options.store;
  const log = zookeeper === undefined ? NO_LOG : stack.use(await openTransactionLog(zookeeper.dataDirectory));

  const journalFile = path.join(root, 'journal');
  const journal = stack.use(await openJournal(journalFile));
  const projects = new Map<string, HostedProject>();
  const { configFiles = CONFIG_FILES } = options;
  projects.set(CONFIG_PROJECT, await hostProject(root, CONFIG_PROJECT, configFiles, journalFile));
  for (const name of PROJECTS) projects.set(name, await hostProject(root, name, PROJECT_FILES, journalFile));

  const repositories = path.join(root, 'repositories');
  const host = options.codeHost === 'http' ? stack.use(await startGitHttpHost(repositories)) : undefined;
  await mkdir(path.join(root, 'etc'), { recursive: true });
  await mkdir(path.join(root, 'output'), { recursive: true });
  await writeFile(path.join(root, 'etc/tenants.yaml'), tenantsText());
  const places = {
    root,
    store:
      zookeeper === undefined
        ? undefined
        : {
            hosts: zookeeper.hosts,
            root: storeRoot,
            sessionTimeout: options.sessionTimeout ?? SESSION_TIMEOUT,
          },
    baseurl: host?.url ?? repositories,
    pollInterval: options.pollInterval ?? 0,
    collector: sink.url,
    token: TOKEN,
    separateMirrors: options.separateMirrors ?? true,
    executors: options.executors ?? {},
    sections: options.sections ?? '',
  };
  const program = await builtProgram();
  const environment = { NODE_COMPILE_CACHE: path.join(root, 'compiled'), ...process.env };
  const webs: string[] = [];
  const processes: ClusterProcess[] = [];
  for (const { name, roles } of membersOf(options)) {
    const port = roles.includes('web') ? await freePort(0) : 0;
    if (port !== 0) webs.push(`http://127.0.0.1:${port}`);
    const config = path.join(root, `etc/${name}.conf`);
    await writeFile(config, settingsText(places, name, port), { mode: 0o600 });
    const logFile = path.join(root, `output/${name}.log`);
    processes.push(createProcess({ name, roles, program, config, logFile, environment }));
  }
  stack.defer(async () => {
    await Promise.all(processes.map(each => each.kill()));
    noteStory(sink.spans);
  });
  const sightings = stack.use(openSightings(() => webs));
  const api = anyOf(() => webs);

  const pushed: Pushed[] = [];
  const owned = stack.move();
  const cluster: Cluster = {
    root,
    storeRoot,
    get zookeeper() {
      if (zookeeper === undefined) throw new Error('this cluster has no ZooKeeper');
      return zookeeper;
    },
    processes,
    process(name) {
      const found = processes.find(each => each.name === name);
      if (found === undefined) throw new Error(`there is no process ${name}`);
      return found;
    },
    ofRole: role => processes.filter(each => each.roles.includes(role)),
    webs,
    api,
    projects,
    journal,
    log,
    host,
    sink,
    sightings,
    deliveries: createDeliveries(() => webs, { connection: CONNECTION, token: TOKEN, deadlineMs: 90_000 }),
    pushed,
    async push(change, sent = 'once') {
      const done = await pushChange(cluster, change, sent);
      pushed.push(done);
      return done;
    },
    async pushTogether(changes) {
      for (const [project, mine] of Map.groupBy(changes, each => each.project))
        pushed.push(...(await pushChanges(cluster, project, mine, 'once')));
    },
    async start() {
      await Promise.all(processes.filter(each => each.pid === undefined).map(each => each.start()));
      const failed = Promise.race(
        processes.map(async each => {
          throw new Error(`${each.name} ended before it was ready: ${await each.ended()}`);
        }),
      );
      await Promise.race([cluster.ready(), failed]);
      failed.catch(() => {}); // they end with the story
    },
    async ready() {
      await waitFor('every web to be ready and to know the tenant', async () => {
        for (const web of webs) {
          if (!(await fetch(`${web}/health/ready`)).ok) return false;
          if (!(await fetch(`${web}/api/tenant/${TENANT}/status`)).ok) return false;
        }
        return true;
      });
    },
    describe: () =>
      processes
        .map(each => `==> ${each.name}\n${each.lines.filter(isNoteworthy).slice(-SHOWN_LINES).join('\n')}`)
        .join('\n'),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
  return cluster;
}

function membersOf({ store, count }: ClusterOptions): readonly { name: string; roles: readonly Role[] }[] {
  if (store === 'embedded') return [{ name: 'all-in-one', roles: ROLES }];
  return ROLES.flatMap(role =>
    Array.from({ length: count?.[role] ?? 2 }, (_, index) => ({
      name: `${role}-${index + 1}`,
      roles: [role],
    })),
  );
}

/** Lines of the log below info are many; they are in the file. */
function isNoteworthy(line: string): boolean {
  return !/"level":(10|20)\b|"level":"(trace|debug)"/.test(line);
}
