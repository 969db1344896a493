/**
 * `npm run compat -- --zuul-jobs DIR`: which of the roles of zuul-jobs run here. Each case (`cases.ts`) is a build of `gatehouse run`: frozen
 * from a layout, run by an executor in its sandbox, on the executor itself and on a Debian host over ssh (`throwaway-host.ts`). Which
 * roles ran is read from the builds' `job-output.json`.
 *
 *     jobs of zuul-tests.d  →  then, alone, the roles that none of them ran
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { runOneBuild } from '../../../src/cmd/run/one-build.ts';
import { prepareRun } from '../../../src/cmd/run/prepare-run.ts';
import type { HostLease } from '../../../src/executor/hosts/reach-hosts.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { parseSettings } from '../../../src/settings/parse-settings.ts';
import type { Settings } from '../../../src/settings/settings.ts';
import { type Case, jobNameOf } from './cases.ts';
import { readOutput } from './read-output.ts';
import { CONFIG_PROJECT, makeSite, NODE, type PlaceName, PROJECT, type ZuulJobsSite } from './site.ts';
import { startThrowawayHost } from './throwaway-host.ts';

export interface ZuulJobsQuestion {
  /** A checkout of zuul-jobs. */
  readonly directory: string;
  /** Cases whose name it matches. */
  readonly only: RegExp;
  readonly places: readonly PlaceName[];
  readonly sshd: string;
  print(line: string): void;
}

interface Bench {
  readonly site: ZuulJobsSite;
  readonly directory: string;
  readonly settings: Pick<Settings, 'merger' | 'executor'>;
}

/** @returns exit status. @throws Error where no host can be made. */
export async function runZuulJobs(question: ZuulJobsQuestion): Promise<number> {
  const directory = await mkdtemp(path.join(tmpdir(), 'gatehouse-zuul-jobs-'));
  try {
    const site = await makeSite(path.resolve(question.directory), directory);
    const bench = { site, directory, settings: defaults() };
    for (const place of question.places) await runAt(place, bench, question);
    return 0;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function runAt(place: PlaceName, bench: Bench, question: ZuulJobsQuestion): Promise<void> {
  const { site } = bench;
  const isWanted = ({ name }: { readonly name: string }) => question.only.test(name);
  const refusals = site.refusals.filter(isWanted);
  for (const { name, reason } of refusals) question.print(`refused ${place} ${name}: ${reason}`);
  await using host = place === 'ssh' ? await startThrowawayHost(question.sshd) : undefined;
  const ran = new Set<string>();
  let passed = 0;
  let count = refusals.length;
  const roles = site.roles.map((name): Case => ({ name, kind: 'role' }));
  for (const each of [...site.cases, ...roles].filter(isWanted)) {
    if (each.kind === 'role' && ran.has(each.name)) continue;
    count += 1;
    const outcome = await runCase(place, bench, each, host?.lease(NODE));
    const seconds = `${(outcome.ms / 1000).toFixed(1)} s`;
    if (outcome.kind === 'passed') {
      passed += 1;
      for (const role of outcome.roles) if (site.roles.includes(role)) ran.add(role);
      question.print(`passed ${place} ${each.name} (${seconds})`);
    } else question.print(`${outcome.kind} ${place} ${each.name}: ${outcome.reason} (${seconds})`);
  }
  question.print(
    `${place}: passed ${passed} of ${count} cases; ${ran.size} of ${site.roles.length} roles ran`,
  );
}

type Outcome = { readonly ms: number } & (
  | { readonly kind: 'passed'; readonly roles: ReadonlySet<string> }
  | { readonly kind: 'failed' | 'refused'; readonly reason: string }
);

async function runCase(
  place: PlaceName,
  { site, directory, settings }: Bench,
  each: Case,
  lease: Omit<HostLease, 'handBack'> | undefined,
): Promise<Outcome> {
  const began = performance.now();
  const ms = () => performance.now() - began;
  const clock = systemClock();
  const own = await mkdtemp(path.join(directory, 'run-'));
  const gitDir = path.join(directory, 'git');
  await mkdir(gitDir, { recursive: true });
  const prepared = await prepareRun(
    {
      ...{ job: jobNameOf(each, place), directory: site.checkout, project: PROJECT },
      ...{ change: undefined, branch: 'master', pipeline: undefined, secrets: undefined },
      checkouts: new Map([[CONFIG_PROJECT, site.config]]),
    },
    undefined,
    settings,
    { directory: own, gitDir, clock },
  );
  if (prepared.kind === 'refused')
    return { kind: 'refused', reason: prepared.text.split('\n')[0] ?? '', ms: ms() };
  await using run = prepared;
  const { request, repositories, secretKeys } = run;
  const decoder = new TextDecoder();
  let log = '';
  const event = await runOneBuild({
    ...{ request, repositories, secretKeys, directory: own, gitDir, clock },
    settings: { ...settings.executor, allowHostNetwork: true },
    path: process.env.PATH ?? '/usr/bin:/bin',
    signal: new AbortController().signal,
    onLog: async bytes => {
      log = `${log}${decoder.decode(bytes, { stream: true })}`.slice(-LOG_TAIL);
    },
    ...(lease === undefined ? {} : { lease }),
  });
  const { roles, failure } = await readOutput(path.join(own, 'logs'), request.uuid);
  await rm(own, { recursive: true, force: true });
  if (event.result === 'SUCCESS') return { kind: 'passed', roles, ms: ms() };
  const detail = [event.result, event.detail].filter(Boolean).join(': ');
  return { kind: 'failed', reason: failure ?? /ERROR! (.*)/.exec(log)?.[1] ?? detail, ms: ms() };
}

/** Characters of the log that are kept, for what Ansible says when it cannot read a playbook. */
const LOG_TAIL = 20_000;

/** Those of an empty settings file. */
function defaults(): Bench['settings'] {
  const parsed = parseSettings(
    { content: new Uint8Array(), file: 'defaults', directory: '/', environment: {} },
    ['merger', 'executor'],
  );
  if (parsed.kind === 'invalid')
    throw new Error(`settings without a file: ${JSON.stringify(parsed.problems)}`);
  return parsed.settings;
}
