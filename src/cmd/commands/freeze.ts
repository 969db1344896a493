/**
 * `gatehouse job-graph` and `gatehouse freeze-job`: which jobs a branch of a project runs in a pipeline, and what one of them comes to. The
 * settings, the tenant file and the repositories are read as they are; no service is asked.
 */
import type { Command } from 'commander';
import { frozenJobDocument, jobGraphDocument } from '../../api/frozen-jobs.ts';
import { configErrorText } from '../../model/config-error.ts';
import type { FrozenJob } from '../../model/job.ts';
import type { JobVerdict } from '../../model/layout.ts';
import { type Io, print, printJson } from '../terminal/io.ts';
import { chosenTenant } from './chosen-tenant.ts';
import { DEFAULT_CONFIG } from './find-socket.ts';
import { type Refused, refused } from './refused.ts';
import { complain } from './session.ts';

interface FreezeOptions {
  readonly config: string;
  readonly tenant?: string;
  readonly json?: boolean;
}

interface Asked {
  readonly pipeline: string;
  readonly project: string;
  readonly branch: string;
}

/** As the command line ends a command that was interrupted. */
const INTERRUPTED = 130;

const GRAPH_EXAMPLES = `
Examples:
  gatehouse job-graph gate acme/app master -c etc/gatehouse.conf
  gatehouse job-graph check acme/app stable/1.0 --json

Matchers of files are passed over, as if every file had changed.`;

const JOB_EXAMPLES = `
Examples:
  gatehouse freeze-job gate acme/app master unit-tests -c etc/gatehouse.conf | jq .vars

Secrets are named, never shown.`;

/** @param done gets the exit status: 1 when the configuration does not say what runs. */
export function addFreezeCommands(program: Command, io: Io, done: (status: number) => void): void {
  const graph = program
    .command('job-graph')
    .summary('show the jobs of a branch in a pipeline')
    .description(
      'Shows which jobs a branch of a project runs in a pipeline, and which of those listed it does not.',
    );
  addArguments(graph)
    .option('--json', 'print JSON, in the form of Zuul')
    .addHelpText('after', GRAPH_EXAMPLES)
    .action(async (pipeline: string, project: string, branch: string, options: FreezeOptions) =>
      done(
        await withGraph(io, { pipeline, project, branch }, options, ({ jobs, verdicts }) => {
          if (options.json === true) printJson(io, jobGraphDocument(jobs));
          else for (const line of graphLines(jobs, verdicts)) print(io, line);
          return undefined;
        }),
      ),
    );
  const job = program
    .command('freeze-job')
    .summary('show what a job of a branch comes to')
    .description(
      'Shows one job as a branch of a project runs it in a pipeline: with all that it inherits, as JSON.',
    );
  addArguments(job)
    .argument('<job>', 'name of the job')
    .addHelpText('after', JOB_EXAMPLES)
    .action(async (pipeline: string, project: string, branch: string, name: string, options: FreezeOptions) =>
      done(
        await withGraph(io, { pipeline, project, branch }, options, ({ jobs, canonical }) => {
          const found = jobs.find(each => each.name === name);
          if (found === undefined)
            return refused(
              `${name} does not run; those that do: ${jobs.map(each => each.name).join(', ') || 'none'}`,
            );
          printJson(io, frozenJobDocument(found, canonical));
          return undefined;
        }),
      ),
    );
}

function addArguments(command: Command): Command {
  return command
    .argument('<pipeline>', 'name of the pipeline')
    .argument('<project>', 'name of the project')
    .argument('<branch>', 'name of the branch')
    .option('-c, --config <file>', 'settings file', DEFAULT_CONFIG)
    .option('-t, --tenant <name>', 'tenant; needed where there are several');
}

interface Graph {
  readonly jobs: readonly FrozenJob[];
  readonly verdicts: readonly JobVerdict[];
  readonly canonical: Parameters<typeof frozenJobDocument>[1];
}

async function withGraph(
  io: Io,
  asked: Asked,
  options: FreezeOptions,
  show: (graph: Graph) => Refused | undefined,
): Promise<number> {
  const signal = io.interrupted();
  try {
    const graph = await freeze(io, asked, options, signal);
    const problem = 'kind' in graph ? graph : show(graph);
    return problem === undefined ? 0 : complain(io, problem.text);
  } catch (error) {
    if (!signal.aborted) throw error;
    return INTERRUPTED;
  }
}

async function freeze(
  io: Io,
  { pipeline, project, branch }: Asked,
  { config, tenant: wanted }: FreezeOptions,
  signal: AbortSignal,
): Promise<Graph | Refused> {
  // Commands that ask a service need not load the parsers.
  const { checkConfig } = await import('./check-config.ts');
  const { freezeItemGraph } = await import('../../layout/freeze/freeze-item-graph.ts');
  const { canonicalNameIn } = await import('../../layout/tenant/resolve-project.ts');
  const checked = await checkConfig({ file: config, environment: io.environment, depth: 'layout', signal });
  const chosen = chosenTenant(checked.tenants, wanted);
  const layout = chosen.kind === 'refused' ? undefined : checked.layouts.get(chosen.tenant.name);
  if (layout === undefined || chosen.kind === 'refused') {
    if (checked.errors.length > 0) return refused(checked.errors.join('\nerror: '));
    return chosen.kind === 'refused'
      ? chosen
      : refused(`the projects of tenant ${chosen.tenant.name} cannot be read`);
  }
  const { tenant } = chosen;
  const resolved = layout.resolveProject(project);
  if (resolved.kind === 'unknown') return refused(resolved.text);
  if (!layout.pipelines.has(pipeline))
    return refused(
      `tenant ${tenant.name} has no pipeline ${pipeline}; it has: ${[...layout.pipelines.keys()].join(', ') || 'none'}`,
    );
  if (layout.branches.get(resolved.project)?.has(branch) !== true)
    return refused(`${project} has no branch ${branch} whose configuration is read`);
  const change = { project: resolved.project, branch, files: null };
  const outcome = freezeItemGraph({ layout, pipeline, changes: [{ name: branch, change }] });
  switch (outcome.kind) {
    case 'frozen':
      return { ...outcomeOf(outcome), canonical: each => canonicalNameIn(each, tenant) };
    case 'not-in-pipeline':
      return refused(`${project} takes no part in pipeline ${pipeline}`);
    case 'misconfigured':
      return refused(outcome.errors.map(configErrorText).join('\nerror: '));
  }
}

function outcomeOf({ jobs, verdicts }: Pick<Graph, 'jobs' | 'verdicts'>) {
  return { jobs, verdicts };
}

function graphLines(jobs: readonly FrozenJob[], verdicts: readonly JobVerdict[]): readonly string[] {
  const running = jobs.map(({ name, dependencies, voting }) => {
    const after = dependencies.map(({ name: needed, soft }) => (soft ? `${needed} (soft)` : needed));
    return [
      name,
      ...(voting ? [] : ['(non-voting)']),
      ...(after.length === 0 ? [] : [`after ${after.join(', ')}`]),
    ].join(' ');
  });
  const others = verdicts.flatMap(verdict =>
    verdict.kind === 'does-not-run' ? [`  ${verdict.name}: ${verdict.because}`] : [],
  );
  return [
    ...(running.length === 0 ? ['no job runs'] : running),
    ...(others.length === 0 ? [] : ['does not run:', ...others]),
  ];
}
