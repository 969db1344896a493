/** `gatehouse run`: one job of a checkout, run here in the sandbox of executors. No service is asked. */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import type { Settings } from '../../settings/settings.ts';
import type { TenantOfRun } from '../run/prepare-run.ts';
import { type Io, print } from '../terminal/io.ts';
import { createLogFilter } from '../terminal/log-filter.ts';
import { styleOf } from '../terminal/style.ts';
import { write } from '../terminal/write-lines.ts';
import { type Refused, refused } from './refused.ts';
import { complain } from './session.ts';

interface RunOptions {
  readonly change?: string;
  readonly directory: string;
  readonly project?: string;
  readonly branch?: string;
  readonly pipeline?: string;
  readonly checkout: ReadonlyMap<string, string>;
  readonly config?: string;
  readonly tenant?: string;
  readonly secrets?: string;
  readonly sandbox?: Settings['executor']['sandbox'];
  readonly network?: boolean;
  readonly color: boolean;
}

/** As the command line ends a command that was interrupted. */
const INTERRUPTED = 130;
/** Nothing was learned about the job. */
const NOT_RUN = 3;

const EXAMPLES = `
Examples:
  gatehouse run unit-tests
  gatehouse run unit-tests --change HEAD~2 --branch stable/1.0
  gatehouse run integration --checkout acme/lib=../lib
  gatehouse run integration -c etc/gatehouse.conf --pipeline gate

Exit status: 0 the job passed, 1 it did not, 3 it could not be run, 130 interrupted (Ctrl-C cancels the build, which cleans up).

Without --config the checkout is all there is: parents, roles and projects of other repositories are not known, and a parent "base" that
nothing defines does nothing. With it the rest of the tenant's configuration is read from its code hosts, with the credentials of that file.
Nothing is written to the checkout, to a code host or to a service. Secrets are not decrypted: --secrets gives values for them.`;

/** @param done gets the exit status. */
export function addRunCommand(program: Command, io: Io, done: (status: number) => void): void {
  program
    .command('run')
    .summary('run one job of a checkout here')
    .description(
      'Runs one job of the checkout in this directory, with what is not committed yet, in the sandbox that executors use. Prints its log live, where the time went and the result.',
    )
    .argument('<job>', 'name of the job')
    .option(
      '--change <ref>',
      'run this commit, merged onto the branch as a gate would, instead of the work tree',
    )
    .option('-C, --directory <directory>', 'directory of the checkout', '.')
    .option('--project <name>', 'project that the checkout is of (default: by its origin)')
    .option(
      '--branch <name>',
      'branch that it is for (default: the current one where origin has it, else the default branch)',
    )
    .option('--pipeline <name>', 'run the job as this pipeline does (default: the first one that runs it)')
    .option(
      '--checkout <name=directory>',
      'take another project from its checkout, too; repeatable',
      parseCheckout,
      new Map<string, string>(),
    )
    .option('-c, --config <file>', 'settings file: read the rest of the tenant from its code hosts')
    .option('-t, --tenant <name>', 'tenant of the settings; needed where there are several')
    .option('--secrets <file>', 'YAML with a value for each secret of the job')
    .option(
      '--sandbox <mode>',
      'auto, bubblewrap or none (default: of the settings, else auto)',
      parseSandbox,
    )
    .option('--network', 'let a job with "network: true" use the network of this machine')
    .option('--no-color', 'print without colours; also NO_COLOR=1')
    .addHelpText('after', EXAMPLES)
    .action(async (job: string, options: RunOptions) => done(await run(io, job, options)));
}

/** @throws InvalidArgumentError */
function parseCheckout(text: string, before: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const at = text.indexOf('=');
  if (at <= 0 || at === text.length - 1)
    throw new InvalidArgumentError(
      'It must be the name of a project and the directory of its checkout, as in acme/lib=../lib.',
    );
  return new Map([...before, [text.slice(0, at), text.slice(at + 1)]]);
}

const SANDBOXES = ['auto', 'bubblewrap', 'none'] as const;

/** @throws InvalidArgumentError */
function parseSandbox(text: string): Settings['executor']['sandbox'] {
  const found = SANDBOXES.find(mode => mode === text);
  if (found === undefined) throw new InvalidArgumentError(`It must be one of ${SANDBOXES.join(', ')}.`);
  return found;
}

async function run(io: Io, job: string, options: RunOptions): Promise<number> {
  const signal = io.interrupted();
  const directory = await mkdtemp(path.join(tmpdir(), 'gatehouse-run-'));
  try {
    const outcome = await runIn(directory, io, job, options, signal);
    if (typeof outcome === 'number') return signal.aborted ? INTERRUPTED : outcome;
    complain(io, outcome.text);
    return NOT_RUN;
  } catch (error) {
    if (!signal.aborted) throw error;
    return INTERRUPTED;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function runIn(
  directory: string,
  io: Io,
  job: string,
  options: RunOptions,
  signal: AbortSignal,
): Promise<number | Refused> {
  // Commands that ask a service need not load the parsers and the executor.
  const { prepareRun } = await import('../run/prepare-run.ts');
  const { runOneBuild } = await import('../run/one-build.ts');
  const { runHeadOf } = await import('../run/run-head.ts');
  const { headLines, resultLines, exitStatusOf } = await import('../run/run-text.ts');
  const found = await tenantOf(io, options, signal);
  if (found.kind === 'refused') return found;
  const gitDir = path.join(cacheOf(io), 'gatehouse', 'git');
  await mkdir(gitDir, { recursive: true });
  const { clock } = io;
  const { change, project, branch, pipeline, secrets } = options;
  const question = { job, change, project, branch, pipeline, secrets, checkouts: options.checkout };
  const place = { directory, gitDir, clock };
  const prepared = await prepareRun(
    { ...question, directory: path.resolve(options.directory) },
    found.tenant,
    found.settings,
    place,
  );
  if (prepared.kind === 'refused') return prepared;
  await using _mirrors = prepared;
  const { colour } = styleOf(io, options.color);
  for (const line of headLines(runHeadOf(prepared, options), colour)) print(io, line);
  const filter = createLogFilter({ colour, times: 'clock' });
  const { executor } = found.settings;
  const { request, repositories, secretKeys } = prepared;
  const event = await runOneBuild({
    ...{ request, repositories, secretKeys, directory, gitDir, clock, signal },
    settings: {
      ...executor,
      sandbox: options.sandbox ?? executor.sandbox,
      allowHostNetwork: options.network ?? executor.allowHostNetwork,
    },
    path: io.environment.PATH ?? '/usr/local/bin:/usr/bin:/bin',
    onLog: bytes => write(io, filter.lines(bytes)),
  });
  await write(io, filter.end());
  for (const line of resultLines(job, event, colour)) print(io, line);
  return exitStatusOf(event.result);
}

type Found = {
  readonly kind: 'found';
  readonly tenant: TenantOfRun;
  readonly settings: Pick<Settings, 'merger' | 'executor'>;
};

async function tenantOf(
  io: Io,
  { config, tenant: wanted }: RunOptions,
  signal: AbortSignal,
): Promise<Found | Refused> {
  if (config === undefined)
    return wanted === undefined
      ? { kind: 'found', tenant: undefined, settings: await defaults() }
      : refused('--tenant needs --config, which says what tenants there are');
  const { checkConfig } = await import('./check-config.ts');
  const { chosenTenant } = await import('./chosen-tenant.ts');
  const checked = await checkConfig({ file: config, environment: io.environment, depth: 'layout', signal });
  const chosen = chosenTenant(checked.tenants, wanted);
  const { settings } = checked;
  // Of the tenant's other mistakes only those that concern the job matter, and they are shown when it is frozen.
  if (chosen.kind === 'refused' || settings === undefined)
    return checked.errors.length > 0
      ? refused(checked.errors.join('\nerror: '))
      : chosen.kind === 'refused'
        ? chosen
        : refused(`${config} cannot be read`);
  const input = checked.inputs.get(chosen.tenant.name);
  if (input === undefined) return refused(checked.errors.join('\nerror: '));
  return { kind: 'found', tenant: { settings, input }, settings };
}

/** Those of an empty settings file. */
async function defaults(): Promise<Pick<Settings, 'merger' | 'executor'>> {
  const { parseSettings } = await import('../../settings/parse-settings.ts');
  const parsed = parseSettings(
    { content: new Uint8Array(), file: 'defaults', directory: '/', environment: {} },
    ['merger', 'executor'],
  );
  if (parsed.kind === 'invalid')
    throw new Error(`settings without a file are invalid: ${JSON.stringify(parsed.problems)}`);
  return parsed.settings;
}

function cacheOf({ environment }: Io): string {
  const { XDG_CACHE_HOME: cache = '', HOME: home = '' } = environment;
  return path.isAbsolute(cache) ? cache : path.join(home === '' ? homedir() : home, '.cache');
}
