/** `gatehouse autohold request`, `list`, `info` and `delete`: hosts of a job that fails, or its workspace, are held as they are, for a person to look at. */
import { type Command, InvalidArgumentError } from 'commander';
import type { HoldDocument } from '../../api/holds.ts';
import { durationText } from '../../lib/duration-text.ts';
import { printable } from '../../lib/text-width.ts';
import { type Io, print, printJson } from '../terminal/io.ts';
import { sendRequest, whoMayText } from './operator-request.ts';
import { type AskOptions, addAskOptions, type Session, tenantPath, withTenantService } from './session.ts';

interface RequestOptions extends AskOptions {
  readonly job: string;
  readonly reason: string;
  readonly change?: string;
  readonly ref?: string;
  readonly count: number;
  readonly nodeHoldExpiration?: number;
}

const EXAMPLES = `
Examples:
  gatehouse autohold request acme/app --job unit-tests --reason "why does it time out?"
  gatehouse autohold request acme/app --job unit-tests --change master/login --reason look --node-hold-expiration 3600
  gatehouse autohold delete 0000000003
${whoMayText('a token that names the tenant')}`;

/** @param done gets the exit status: 1 when the service refuses or is not reached. */
export function addAutoholdCommands(program: Command, io: Io, done: (status: number) => void): void {
  const autohold = program
    .command('autohold')
    .summary('hold the hosts of a job, or its workspace, when it fails');
  addAskOptions(autohold.command('request'))
    .summary('hold the hosts of a job, or its workspace, when it fails')
    .description(
      'Asks that the hosts of a job are held as they are when it fails, for the next builds of it, until the hold expires or is deleted. Of a job that runs on an executor the workspace is held there.',
    )
    .argument('<project>', 'name of the project, e.g. acme/app')
    .requiredOption('--job <name>', 'the job')
    .requiredOption('--reason <text>', 'shown with what is held')
    .option('--change <change>', 'only for this change, e.g. master/login or 1234')
    .option('--ref <expression>', 'only for refs that it matches from their start')
    .option('--count <n>', 'builds to hold at most', wholeNumber, 1)
    .option(
      '--node-hold-expiration <seconds>',
      "from the end of a build; 0: until it is deleted (default: the service's)",
      wholeNumber,
    )
    .addHelpText('after', EXAMPLES)
    .action(async (project: string, options: RequestOptions) =>
      done(await withTenantService(io, options, session => request(session, project, options), 'act')),
    );
  addAskOptions(autohold.command('list'))
    .summary('list the requests')
    .description('Lists the requests, with the builds and their hosts or workspaces that they hold now.')
    .action(async (options: AskOptions) => done(await withTenantService(io, options, list)));
  addAskOptions(autohold.command('info'))
    .summary('show one request')
    .description('Shows one request, with the builds and their hosts or workspaces that it holds now.')
    .argument('<id>', 'as "gatehouse autohold list" shows it')
    .action(async (id: string, options: AskOptions) =>
      done(await withTenantService(io, options, session => info(session, id))),
    );
  addAskOptions(autohold.command('delete'))
    .summary('delete a request')
    .description(
      'Deletes a request. The hosts that it holds are cleaned and serve again; workspaces are removed.',
    )
    .argument('<id>', 'as "gatehouse autohold list" shows it')
    .addHelpText('after', whoMayText('a token that names the tenant'))
    .action(async (id: string, options: AskOptions) =>
      done(await withTenantService(io, options, session => remove(session, id), 'act')),
    );
}

function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('expected a whole number');
  return Number(text);
}

function request(
  session: Session,
  project: string,
  { job, reason, change, ref, count, nodeHoldExpiration }: RequestOptions,
): Promise<number> {
  const body = { job, reason, change, ref, count, node_hold_expiration: nodeHoldExpiration ?? null };
  const path = tenantPath(
    session,
    `project/${project.split('/').map(encodeURIComponent).join('/')}/autohold`,
  );
  return sendRequest(session, path, body, `hosts of ${job}, or its workspace, are held when it fails`);
}

async function list(session: Session): Promise<number> {
  const holds = await session.api.get<readonly HoldDocument[]>(tenantPath(session, 'autohold'));
  if (session.json) printJson(session.io, holds);
  else print(session.io, holds.length === 0 ? 'no hold requests' : holds.flatMap(linesOf).join('\n'));
  return 0;
}

async function info(session: Session, id: string): Promise<number> {
  const hold = await session.api.get<HoldDocument>(tenantPath(session, `autohold/${encodeURIComponent(id)}`));
  if (session.json) printJson(session.io, hold);
  else print(session.io, linesOf(hold).join('\n'));
  return 0;
}

async function remove(session: Session, id: string): Promise<number> {
  await session.api.remove(tenantPath(session, `autohold/${encodeURIComponent(id)}`));
  if (session.json) printJson(session.io, true);
  else print(session.io, `hold request ${printable(id)} is deleted`);
  return 0;
}

function linesOf(hold: HoldDocument): readonly string[] {
  const { id, job, project, ref_filter: filter, reason, gatehouse, nodes } = hold;
  const about = filter === '.*' ? '' : ` (${filter})`;
  const end =
    hold.node_expiration === 0 ? 'until it is deleted' : `for ${durationText(hold.node_expiration * 1000)}`;
  return [
    `${id}  ${job} of ${project}${about}, ${hold.current_count} of ${hold.max_count}, each ${end}`,
    `    ${reason} (${gatehouse.by})`,
    ...nodes.map((held, index) => `    build ${held.build}: ${whatOf(held.nodes, gatehouse.held[index])}`),
  ].map(printable);
}

function whatOf(
  nodes: readonly string[],
  held: HoldDocument['gatehouse']['held'][number] | undefined,
): string {
  // Services before the one that holds workspaces say nothing of them.
  const workspace = held?.workspace ?? undefined;
  return workspace === undefined ? nodes.join(', ') : `workspace ${workspace.path} of ${workspace.executor}`;
}
