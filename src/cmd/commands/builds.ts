/** `gatehouse builds`: builds of a tenant, newest first. */
import { type Command, InvalidArgumentError } from 'commander';
import type { BuildDocument as Build } from '../../api/build-schema.ts';
import { didYouMean } from '../../lib/nearest-name.ts';
import { type Io, print, printJson } from '../terminal/io.ts';
import { buildLines } from './builds-text.ts';
import { namedProject } from './checkout-project.ts';
import { type Refused, refused } from './refused.ts';
import { type AskOptions, addAskOptions, type Session, tenantPath, withTenantService } from './session.ts';

interface BuildsOptions extends Omit<AskOptions, 'json'> {
  readonly project?: string;
  readonly pipeline?: string;
  readonly job?: string;
  readonly change?: string;
  readonly branch?: string;
  readonly result?: string;
  readonly limit: number;
  /** True: all fields. */
  readonly json?: string | boolean;
}

const EXAMPLES = `
Examples:
  gatehouse builds --project . --result FAILURE
  gatehouse builds --job unit-tests --pipeline gate -n 50
  gatehouse builds --json uuid,job_name,result,log_url | jq -r '.[].log_url'

"." is the project of the checkout you are in. Fields are those of /api/tenant/<tenant>/builds.`;

/** @param done gets the exit status: 0, also when there is no such build. */
export function addBuildsCommand(program: Command, io: Io, done: (status: number) => void): void {
  addAskOptions(program.command('builds'), '--json [fields]')
    .summary('list builds, newest first')
    .description(
      'Lists builds of a tenant that ended or run, newest first: result, job, change, duration and uuid.',
    )
    .option('--project <name>', 'only of this project; "." is that of the checkout')
    .option('-p, --pipeline <name>', 'only of this pipeline')
    .option('-j, --job <name>', 'only of this job')
    .option('--change <change>', 'only of this change, e.g. master/login')
    .option('--branch <name>', 'only of changes of this branch')
    .option('-r, --result <result>', 'only with this result, e.g. FAILURE')
    .option('-n, --limit <number>', 'how many', parseLimit, 20)
    .addHelpText('after', EXAMPLES)
    .action(async (options: BuildsOptions) => {
      const asked = { ...options, json: options.json !== undefined };
      done(await withTenantService(io, asked, session => builds(session, options)));
    });
}

/** @throws InvalidArgumentError */
function parseLimit(text: string): number {
  const limit = Number(text);
  // The service knows the most it gives.
  if (!Number.isSafeInteger(limit) || limit < 1)
    throw new InvalidArgumentError('It must be a number from 1 on.');
  return limit;
}

async function builds(session: Session, options: BuildsOptions): Promise<number | Refused> {
  const { pipeline, job, change, branch, result, limit, json } = options;
  const project = await namedProject(session, options.project);
  if (typeof project === 'object') return project;
  const wanted = { project, pipeline, job_name: job, change, branch, result: result?.toUpperCase() };
  const question = new URLSearchParams({ limit: String(limit) });
  for (const [name, value] of Object.entries(wanted)) if (value !== undefined) question.set(name, value);
  const found = await session.api.get<readonly Build[]>(tenantPath(session, `builds?${question}`));
  if (json === undefined) {
    const lines = buildLines(found, session.style());
    print(session.io, lines.length === 0 ? 'no such builds' : lines.join('\n'));
    return 0;
  }
  if (json === true) printJson(session.io, found);
  else return printFields(session, found, String(json).split(','));
  return 0;
}

function printFields({ io }: Session, found: readonly Build[], fields: readonly string[]): number | Refused {
  const known = Object.keys(found[0] ?? {});
  const unknown = found.length === 0 ? undefined : fields.find(field => !known.includes(field));
  if (unknown !== undefined)
    return refused(
      `builds have no field "${unknown}"${didYouMean(unknown, known) || `; they have: ${known.join(', ')}`}`,
    );
  const rows = found.map(build =>
    Object.fromEntries(Object.entries(build).filter(([name]) => fields.includes(name))),
  );
  printJson(io, rows);
  return 0;
}
