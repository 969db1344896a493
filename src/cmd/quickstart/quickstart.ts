/**
 * `gatehouse quickstart`: real repositories, the real service, real pushes. Sets everything up below `.quickstart/`, runs the demo
 * through the gate, prints results and reasons, and serves until Ctrl-C.
 *
 * Map of this folder:
 *
 *     prepare-site.ts        files of the demo (demo-files.ts, demo-changes.ts); container-site.ts: the same among containers
 *     service-process.ts     the service, a process of its own
 *     demo-host.ts           the code host, with developers (developer.ts); git-host.ts: repositories in a directory
 *     demo-run.ts            the six changes, with progress.ts on the screen (shown-item.ts); until-quiet.ts: when it is over
 *     things-to-try.ts       what to do then
 *     outcome.ts             what came of them, and summary.ts: the table at the end
 */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { waterfall } from '../../explain/waterfall.ts';
import { painter } from '../../lib/ansi.ts';
import { fromMilliseconds } from '../../lib/clock.ts';
import { durationText } from '../../lib/duration-text.ts';
import { ownFile } from '../../lib/own-file.ts';
import { probeEndpoint } from '../../tracing/otlp/probe-endpoint.ts';
import { type Api, createApi } from '../client/api.ts';
import { type OtlpTraceDocument, spansFromOtlp } from '../client/spans-from-otlp.ts';
import { createScreen, type Screen } from '../terminal/screen.ts';
import { TENANT } from './demo-files.ts';
import type { DemoSite, LocalDemo } from './demo-host.ts';
import { runDemo } from './demo-run.ts';
import { startGitDemo } from './git-host.ts';
import { type ChangeOutcome, gateOutcomes, surprises } from './outcome.ts';
import type { SiteOptions } from './prepare-site.ts';
import { freePort, startServiceProcess, waitUntilReady } from './service-process.ts';
import { summaryTable } from './summary.ts';
import { untilQuiet } from './until-quiet.ts';

const READY_LIMIT = 60_000;

/** As the command line has them. */
export interface QuickstartOptions {
  readonly once: boolean;
  readonly json?: string;
  readonly directory: string;
  readonly port: string;
  readonly github: boolean;
  readonly gerrit: boolean;
}

/** @returns the exit status. @throws Error when something of it does not work. */
export async function quickstart({
  once,
  json,
  directory: wanted,
  port: wantedPort,
  github,
  gerrit,
}: QuickstartOptions): Promise<number> {
  const began = performance.now();
  const screen = createScreen(process.stdout);
  const paint = painter(screen.colour);
  const directory = path.resolve(wanted);
  const port = await freePort(Number(wantedPort));
  await using prepared = await demoOf(
    { github, gerrit },
    {
      directory,
      port,
      token: randomBytes(16).toString('hex'),
      logLevel: 'info',
    },
    screen,
  );
  const { site, places, invitation } = prepared;
  screen.line(`${paint('Gatehouse quickstart', 'bold')}`);
  for (const place of places) screen.line(place);
  const logFile = path.join(directory, 'gatehouse.log');
  const collector = await collectorOf(process.env);
  const service = await startServiceProcess(site.config, logFile, {
    ...process.env,
    ...collector.environment,
  });
  const interrupted = new Promise<'interrupted'>(resolve => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve('interrupted'));
  });
  try {
    await waitUntilReady(site.url, service, READY_LIMIT);
    screen.line(`service        ${site.url}   (log: ${logFile})`);
    screen.line(`operators      ${site.socket}   (socket of the command line; HTTP needs a token)`);
    screen.line(`jobs           ${await sandboxOf(logFile)}`);
    screen.line(`spans          ${collector.text}`);
    const api = createApi(site.url);
    const done = await Promise.race([
      demo(site, api, screen),
      interrupted,
      service.exited.then(status =>
        Promise.reject(new Error(`the service ended (${status}); see ${logFile}`)),
      ),
    ]);
    if (done === 'interrupted') return 130;
    const wrong = surprises(done.outcomes);
    const seconds = performance.now() - began;
    const closing = await closingLines(site, api, done.outcomes, wrong, seconds, screen);
    for (const line of [...(await prepared.shown()), ...closing]) screen.line(line);
    if (once || json !== undefined) {
      const end = await Promise.race([untilQuiet(site.host, api, done.outcomes), interrupted]);
      if (end === 'interrupted') return 130;
      if (end.kind === 'late') screen.line(`${paint('!', 'yellow')} ${end.problem}`);
      if (json !== undefined) await writeReport(json, seconds, done.outcomes, site, end.exported);
    }
    if (once) return wrong.length === 0 ? 0 : 1;
    for (const line of ['', ...invitation, '', ...lastLines(site)]) screen.line(line);
    await Promise.race([interrupted, service.exited]);
    return 0;
  } finally {
    await service.stop();
  }
}

/** How to go on, now and later. */
function lastLines({ url, config }: DemoSite): readonly string[] {
  const program = existsSync(ownFile('scripts/bootstrap.mjs')) ? 'npm run gatehouse --' : 'gatehouse';
  return [
    `Commands: export GATEHOUSE_URL=${url} GATEHOUSE_CONFIG=${config}; ${program} status --watch`,
    `Later:    ${program} start -c ${config}`,
    `Serving ${url} until Ctrl-C.`,
  ];
}

/** The hosts for tests belong to the tests, and need their packages. */
async function demoOf(
  { github, gerrit }: Pick<QuickstartOptions, 'github' | 'gerrit'>,
  options: SiteOptions,
  screen: Screen,
): Promise<LocalDemo> {
  if (gerrit) {
    if (isGiven(process.env.GERRIT_WAR) || isGiven(process.env.GERRIT_URL)) {
      screen.line('Preparing the given Gerrit, which may take a minute ...');
      const real: typeof import('../../../test/gerrit/demo/start-real-demo.ts') = await ofTests(
        'test/gerrit/demo/start-real-demo.ts',
      );
      return real.startRealDemo(options);
    }
    const gerritDemo: typeof import('../../../test/gerrit/demo/start-gerrit-demo.ts') = await ofTests(
      'test/gerrit/demo/start-gerrit-demo.ts',
    );
    return gerritDemo.startGerritDemo(options);
  }
  if (!github) return startGitDemo(options);
  const githubDemo: typeof import('../../../test/github/demo/start-github-demo.ts') = await ofTests(
    'test/github/demo/start-github-demo.ts',
  );
  return githubDemo.startGithubDemo(options);
}

/** A build has no tests, so it shall not look for them when it is made. */
async function ofTests<Module>(name: string): Promise<Module> {
  const file = ownFile(name);
  if (!existsSync(file))
    throw new Error('the hosts for tests are in a checkout of Gatehouse: npm run quickstart');
  return import(pathToFileURL(file).href);
}

function isGiven(variable: string | undefined): boolean {
  return variable !== undefined && variable !== '';
}

async function demo(
  site: DemoSite,
  api: Api,
  screen: Screen,
): Promise<{ readonly outcomes: readonly ChangeOutcome[] }> {
  const proposals = await runDemo(site.host, api, screen);
  return { outcomes: await gateOutcomes(api, site.host, proposals) };
}

/** The endpoint in the environment, else a collector on the default port of this machine, else none. */
async function collectorOf(
  environment: NodeJS.ProcessEnv,
): Promise<{ readonly environment: NodeJS.ProcessEnv; readonly text: string }> {
  const named = environment.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? environment.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (named !== undefined && named !== '') return { environment: {}, text: `sent to ${named}` };
  const endpoint = 'http://localhost:4317';
  if (await probeEndpoint('localhost', 4317, 300))
    return {
      environment: { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint },
      text: `sent to the collector found at ${endpoint}`,
    };
  return {
    environment: {},
    text: 'shown in the built-in view (no collector on localhost:4317; set OTEL_EXPORTER_OTLP_ENDPOINT to send them)',
  };
}

async function sandboxOf(logFile: string): Promise<string> {
  const log = await readFile(logFile, 'utf8');
  return /sandbox: (.*?) {2}/.exec(log)?.[1] ?? 'see the log';
}

async function writeReport(
  file: string,
  ms: number,
  outcomes: readonly ChangeOutcome[],
  site: DemoSite,
  exported: number,
): Promise<void> {
  const changes = outcomes.map(
    ({ project, change, commit, result, merged, resets, trace_id, enqueued_ns, dequeued_ns }) => ({
      project,
      change,
      commit,
      result,
      merged,
      resets: resets.map(({ cause, culprit }) => ({ cause, culprit })),
      trace_id,
      enqueued_ns,
      dequeued_ns,
    }),
  );
  const report = {
    version: 1,
    duration_ms: Math.round(ms),
    changes,
    repositories: Object.fromEntries(site.host.repositories),
    spans_exported: exported,
  };
  await writeFile(file, `${JSON.stringify(report, null, 2)}\n`);
}

async function closingLines(
  site: DemoSite,
  api: Api,
  outcomes: readonly ChangeOutcome[],
  wrong: readonly string[],
  ms: number,
  screen: Screen,
): Promise<readonly string[]> {
  const paint = painter(screen.colour);
  const shown = outcomes.toSorted((a, b) => b.resets.length - a.resets.length)[0];
  const trace = shown === undefined ? '' : await waterfallOf(api, shown, screen);
  return [
    '',
    ...summaryTable(outcomes, screen),
    '',
    ...(shown === undefined
      ? []
      : [
          paint(
            `Time of ${shown.project} ${shown.change} in the gate, tests repeated after a reset:`,
            'bold',
          ),
          trace,
          '',
        ]),
    ...(wrong.length === 0
      ? [`${paint('✓', 'green')} every change ended as expected, after ${durationText(ms)}`]
      : wrong.map(line => `${paint('✗', 'red')} ${line}`)),
    '',
    `status page    ${site.url}/`,
    ...(shown === undefined
      ? []
      : [
          `this item      ${site.url}/t/${TENANT}/item/${shown.trace_id}`,
          `as a trace     ${site.url}/api/tenant/${TENANT}/item/${shown.trace_id}/trace`,
        ]),
  ];
}

async function waterfallOf(api: Api, outcome: ChangeOutcome, screen: Screen): Promise<string> {
  const trace = await api.get<OtlpTraceDocument>(`/api/tenant/${TENANT}/item/${outcome.trace_id}/trace`);
  return waterfall(spansFromOtlp(trace), {
    width: Math.min(screen.width, 140),
    colour: screen.colour,
    now: fromMilliseconds(Date.now()),
    maxDepth: 3,
  });
}
