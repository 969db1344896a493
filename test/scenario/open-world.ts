/** Sets up a site for one story and starts the service on it. */
import { chmod, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createApi } from '../../src/cmd/client/api.ts';
import type { Service } from '../../src/cmd/service/service.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { bothLogs } from '../fake/both-logs.ts';
import { registerHost } from '../fake/contract-host/driver.ts';
import { ContractHost } from '../fake/contract-host/host.ts';
import { contractTable } from '../fake/contract-host/index.ts';
import { startGitHttpHost } from '../fake/git-http-host.ts';
import { type OtlpSink, startOtlpSink } from '../fake/otlp-sink.ts';
import type { ContractSite } from './contract-people.ts';
import { createDeveloper, type Developer } from './developer.ts';
import { openLineFifo } from './line-fifo.ts';
import { makeWorld, type RunningSite } from './make-world.ts';
import { type Observer, observe } from './observer.ts';
import { CONFIG_PROJECT, restartSite, type SiteOptions, type SiteStore, startSite } from './site.ts';
import { openStage } from './stage.ts';
import { storyLog } from './story-log.ts';
import type { World, WorldSetup } from './world.ts';

const PROJECTS = {
  'org/project': { 'README.md': 'A project.\n' },
  'org/project1': { 'README.md': 'Another.\n' },
  'org/project2': { 'README.md': 'A third.\n' },
};

const OVER_HTTP = ['protocol = http/protobuf', 'compression = gzip'];

export async function openWorld(setup: WorldSetup, store: SiteStore): Promise<World> {
  const root = await mkdtemp(path.join(tmpdir(), 'gatehouse-story-'));
  // Where the tests run as root, jobs run as another user.
  await chmod(root, 0o755);
  const projects = setup.projects ?? PROJECTS;
  const sink = await startOtlpSink({ protocol: setup.collectorProtocol ?? 'grpc' });
  if (setup.collectorDown === true) sink.answerAlways({ kind: 'status', code: 14 });
  const hookCalls = path.join(root, 'hook-calls');
  const stage = await openStage(path.join(root, 'stage'), [hookCalls]);
  const log = storyLog();
  const developers = new Map<string, Developer>();
  const pushes: { heard: (project: string) => void } = { heard: () => {} };
  const hooks = openLineFifo(hookCalls, project => pushes.heard(project));
  const config = { 'zuul.yaml': setup.layout, 'playbooks/job.sh': stage.playbook, ...setup.configFiles };
  const { far, elsewhere = {} } = setup;
  for (const [name, files] of Object.entries({ [CONFIG_PROJECT]: config, ...projects, ...far, ...elsewhere }))
    developers.set(name, await createDeveloper(root, name, files, hookCalls));
  const host = setup.overHttp === true ? await startGitHttpHost(path.join(root, 'repositories')) : undefined;
  const guard = setup.httpPassword === undefined ? undefined : basic('git', setup.httpPassword);
  if (guard !== undefined)
    host?.ail(request => (request.authorization === guard ? undefined : { kind: 'status', status: 401 }));
  const contract = setup.contractHost === true ? openContract(root) : undefined;
  const site: SiteOptions = {
    root,
    projects: Object.keys(projects),
    far: Object.keys(setup.far ?? {}),
    farReadOnly: setup.farReadOnly ?? false,
    moreTenants: setup.moreTenants ?? [],
    projectOptions: setup.projectOptions,
    tenantOptions: setup.tenantOptions,
    moreTenantOptions: setup.moreTenantOptions,
    tenantStanzas: setup.tenantStanzas,
    collector: sink.url,
    tracingOff: setup.tracingOff ?? false,
    scheduler: setup.scheduler ?? [],
    executor: setup.executor ?? [],
    tracing: [...(setup.collectorProtocol === 'http' ? OVER_HTTP : []), ...(setup.tracing ?? [])],
    sections: setup.sections ?? [],
    store,
    clock: setup.clock ?? systemClock(),
    ...(setup.keys === undefined ? {} : { keys: setup.keys }),
    ...(setup.drivers === undefined ? {} : { drivers: setup.drivers }),
    ...(setup.maxBuilds === undefined ? {} : { maxBuilds: setup.maxBuilds }),
    ...(host === undefined ? {} : { baseurl: host.url }),
    ...(contract === undefined ? {} : { driverLines: contract.lines, drivers: contractTable }),
    ...(setup.httpPassword === undefined ? {} : { connection: [`http_password = ${setup.httpPassword}`] }),
  };
  const heard = setup.secondLog === undefined ? log.log : bothLogs(log.log, setup.secondLog);
  const traced = setup.collectorDown !== true && setup.tracingOff !== true;
  function running(service: Service): RunningSite {
    const api = createApi(service.url);
    const observer: Observer = observe({
      api,
      stage,
      sink,
      traced: () => traced,
      describe: () => `${describe(observer)}\n${log.tail()}`,
    });
    return { service, api, observer };
  }
  const begun = running(await startSite(site, heard));
  const restart = async (names: readonly string[]) => running(await restartSite(site, names, heard));
  // A branch that moves before the first read of its repository is no event for the gate.
  if (traced)
    await begun.observer.until(
      'the first look at each repository',
      () => firstLooks(sink) >= developers.size - Object.keys(elsewhere).length,
    );
  return makeWorld({
    root,
    setup,
    host,
    contract,
    sink,
    stage,
    log,
    developers,
    begun,
    restart,
    hooks,
    pushes,
  });
}

function basic(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}

/** The fake host of the contract, on the same repositories. */
function openContract(root: string): ContractSite {
  const host = new ContractHost(project => path.join(root, 'repositories', `${project}.git`), systemClock());
  const registration = registerHost(root, host);
  return {
    host,
    lines: ['driver = contract', `host = ${root}`],
    [Symbol.dispose]: () => registration[Symbol.dispose](),
  };
}

function firstLooks(sink: OtlpSink): number {
  // Named for the driver: `GitEvent`, `ContractEvent`.
  return sink.spans.filter(span =>
    /^(Git|Contract)Event$/.test(String(span.attributes['gatehouse.span.type'])),
  ).length;
}

/** For the message of a condition that was never met. */
function describe(observer: Observer): string {
  const items = observer.items().map(item => {
    const jobs = item.jobs.map(job => `${job.name} ${job.result ?? job.state}`).join(', ');
    return `${item.pipeline} ${item.changes.map(change => change.text).join(' ')}: ${item.state.name} ${item.state.subject ?? ''} [${jobs}]`;
  });
  const running = observer.running().map(build => `${build.job}: ${build.changes}`);
  return [...items, `running: ${running.join('; ') || 'nothing'}`].join('\n');
}
