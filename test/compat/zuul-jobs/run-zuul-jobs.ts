/**
 * `npm run compat -- --zuul-jobs DIR`: which of the roles of zuul-jobs run here. One service runs all cases (`cases.ts`): jobs of a tenant with
 * zuul-jobs in it, on executor slots and on Debian hosts over ssh, one host for each case (`throwaway-hosts.ts`). What ran is read from the
 * builds' `job-output.json`, and printed as a table of roles.
 */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Api, createApi } from '../../../src/cmd/client/api.ts';
import { startService } from '../../../src/cmd/service/service.ts';
import { readSettings } from '../../../src/settings/read-settings.ts';
import { COMPONENT_KINDS } from '../../../src/store/paths.ts';
import { SILENT } from '../../fake/silent-log.ts';
import { type Case, jobNameOf, type PlaceName } from './cases.ts';
import { readOutput } from './read-output.ts';
import { type Outcome, roleTable } from './role-table.ts';
import { makeSite, type PlacedCases, propose, readCheckout, TENANT } from './site.ts';
import { startThrowawayHosts } from './throwaway-hosts.ts';

export interface ZuulJobsQuestion {
  /** A checkout of zuul-jobs. */
  readonly directory: string;
  /** Cases whose name it matches. */
  readonly only: RegExp;
  readonly places: readonly PlaceName[];
  readonly sshd: string;
  /** Folder of a version of Ansible; undefined: the one on the PATH. */
  readonly ansible: string | undefined;
  /** Builds at a time. */
  readonly atOnce: number;
  print(line: string): void;
}

/** @returns exit status. @throws Error where no host can be made, or the service does not start. */
export async function runZuulJobs(question: ZuulJobsQuestion): Promise<number> {
  await using opening = new AsyncDisposableStack();
  const directory = await mkdtemp(path.join(tmpdir(), 'gatehouse-zuul-jobs-'));
  opening.defer(() => rm(directory, { recursive: true, force: true }));
  // Jobs are other users.
  await chmod(directory, 0o755);
  const source = path.resolve(question.directory);
  const checkout = await readCheckout(source);
  const isWanted = ({ name }: { readonly name: string }) => question.only.test(name);
  const cases = checkout.cases.filter(isWanted);
  const overSsh = question.places.includes('ssh') ? cases.length : 0;
  const { hosts, key } = opening.use(await startThrowawayHosts(question.sshd, overSsh));
  const placed = question.places.map(place => ({ place, cases, hosts: place === 'ssh' ? hosts : [] }));
  const file = await makeSite({ ...question, source, directory, placed, key });
  const refused = checkout.refusals.filter(isWanted);
  const outcomes = question.places.flatMap(place =>
    refused.map((each): Outcome => ({ ...refusal(each, each.reason), place })),
  );
  for (const each of outcomes) question.print(lineOf(each));
  const service = opening.use(await serviceOf(file));
  await propose(directory, placed);
  const found = await outcomesOf({ api: createApi(service.url), directory, placed, print: question.print });
  const wanted = checkout.roles.filter(name => isWanted({ name }));
  const roles = wanted.length === 0 ? checkout.roles : wanted;
  for (const line of roleTable(roles, question.places, [...outcomes, ...found])) question.print(line);
  return 0;
}

async function serviceOf(file: string): Promise<AsyncDisposable & { readonly url: string }> {
  const read = readSettings(file, {});
  if (read.kind === 'invalid') throw new Error(read.errors.join('\n'));
  const started = await startService(read.settings, SILENT, COMPONENT_KINDS);
  if (started.kind === 'refused') throw new Error(started.errors.join('\n'));
  const { service } = started;
  await service.ready;
  return { url: service.url, [Symbol.asyncDispose]: () => service.close() };
}

interface Watched {
  readonly api: Api;
  readonly directory: string;
  readonly placed: readonly PlacedCases[];
  print(line: string): void;
}

interface ShownBuild {
  readonly uuid: string;
  readonly job_name: string;
  readonly result: string | null;
  readonly error_detail: string | null;
  readonly duration: number | null;
}

interface LiveJob {
  readonly uuid: string | null;
  readonly name: string;
  readonly result: string | null;
  /** Milliseconds. */
  readonly elapsed_time: number | null;
}

interface Status {
  readonly pipelines: readonly {
    readonly trigger_events: number;
    readonly change_queues: readonly {
      readonly heads: readonly (readonly { readonly jobs: readonly LiveJob[] }[])[];
    }[];
  }[];
}

const TICK_MS = 1000;
/** Until a change is in the pipeline. */
const ENTERING_MS = 60_000;

/** Prints each as its build ends. @throws Error when no change enters the pipeline. */
async function outcomesOf(watched: Watched): Promise<readonly Outcome[]> {
  const { api, placed, print } = watched;
  const jobs = new Map(
    placed.flatMap(({ place, cases }) =>
      cases.map(each => [jobNameOf(each, place), { each, place }] as const),
    ),
  );
  const outcomes: Outcome[] = [];
  const until = performance.now() + ENTERING_MS;
  let hasEntered = false;
  for (let isOver = false; !isOver; ) {
    await pause(TICK_MS);
    const { isBusy, live } = await look(api);
    hasEntered ||= isBusy;
    if (!hasEntered && performance.now() > until)
      throw new Error(`no change entered the pipeline: ${await errorsOf(api)}`);
    // What has ended is looked at once more after the last item has left.
    isOver = hasEntered && !isBusy;
    const builds = isOver
      ? await api.get<readonly ShownBuild[]>(`/api/tenant/${TENANT}/builds?limit=1000`)
      : live;
    for (const build of builds) {
      const job = jobs.get(build.job_name);
      if (job === undefined || build.result === null) continue;
      jobs.delete(build.job_name);
      const outcome = await outcomeOf(watched, job, build);
      outcomes.push(outcome);
      print(lineOf(outcome));
    }
  }
  const errors = jobs.size === 0 ? '' : await errorsOf(api);
  for (const { each, place } of jobs.values()) {
    const outcome: Outcome = { ...refusal(each, `it was not run: ${errors}`), place };
    outcomes.push(outcome);
    print(lineOf(outcome));
  }
  return outcomes;
}

/** `live`: builds of items that are in the pipeline. */
async function look(api: Api): Promise<{ readonly isBusy: boolean; readonly live: readonly ShownBuild[] }> {
  const { pipelines } = await api.get<Status>(`/api/tenant/${TENANT}/status`);
  const items = pipelines.flatMap(({ change_queues: queues }) => queues.flatMap(({ heads }) => heads.flat()));
  const live = items.flatMap(({ jobs }) =>
    jobs.flatMap(({ uuid, name, result, elapsed_time: elapsed }) => {
      const duration = elapsed === null ? null : elapsed / 1000;
      return uuid === null ? [] : [{ uuid, job_name: name, result, error_detail: null, duration }];
    }),
  );
  return { isBusy: items.length > 0 || pipelines.some(({ trigger_events: events }) => events > 0), live };
}

async function errorsOf(api: Api): Promise<string> {
  const [items, errors] = await Promise.all([
    api.get<readonly { readonly result: string; readonly reason: string }[]>(`/api/tenant/${TENANT}/items`),
    api.get<readonly { readonly error: string }[]>(`/api/tenant/${TENANT}/config-errors`),
  ]);
  const left = items.flatMap(({ result, reason }) => (result === 'SUCCESS' ? [] : [`${result}: ${reason}`]));
  return [...left, ...errors.map(({ error }) => error)].join('; ');
}

async function outcomeOf(
  { directory }: Watched,
  { each, place }: { readonly each: Case; readonly place: PlaceName },
  build: ShownBuild,
): Promise<Outcome> {
  const { tasks, failure } = await readOutput(path.join(directory, 'logs'), build.uuid);
  const facts = { case: each, place, tasks, seconds: build.duration ?? 0 };
  if (build.result === 'SUCCESS') return { ...facts, kind: 'passed', reason: '' };
  const detail = [build.result, build.error_detail].filter(Boolean).join(': ');
  return { ...facts, kind: 'failed', reason: failure ?? detail };
}

function refusal({ name }: { readonly name: string }, reason: string): Omit<Outcome, 'place'> {
  const kind = name.startsWith('zuul-jobs-test-') ? 'job' : 'role';
  return { case: { name, kind }, kind: 'refused', reason, tasks: new Map(), seconds: 0 };
}

function lineOf({ kind, place, case: of, reason, seconds }: Outcome): string {
  const time = kind === 'refused' ? '' : ` (${seconds.toFixed(0)} s)`;
  return `${kind} ${place} ${of.name}${reason === '' ? '' : `: ${reason}`}${time}`;
}
