/** `gatehouse rerun`: runs the failed jobs of an item again. */
import type { Command } from 'commander';
import type { Io } from '../terminal/io.ts';
import { CHANGE_ARGUMENT, findItem, ITEM_ARGUMENT } from './find-item.ts';
import { type ActOptions, addActOptions, sendAct, whoMayText } from './operator-request.ts';
import type { Refused } from './refused.ts';
import { type Session, tenantPath, withTenantService } from './session.ts';

interface RerunOptions extends ActOptions {
  readonly pipeline?: string;
}

const EXAMPLES = `
Examples:
  gatehouse rerun 0e2c20
  gatehouse rerun acme/app master/login --pipeline gate
${whoMayText('a token that names the tenant')}`;

/** @param done gets the exit status: 0 when the request is stored; the jobs start with the next turn of the pipeline. */
export function addRerunCommand(program: Command, io: Io, done: (status: number) => void): void {
  addActOptions(program.command('rerun'))
    .summary('run the failed jobs of an item again')
    .description(
      'Runs the failed jobs of an item again, in the state that was tested; those that passed keep their result. An item that has left enters its pipeline again, with the change as it is now.',
    )
    .argument('<item>', ITEM_ARGUMENT)
    .argument('[change]', CHANGE_ARGUMENT)
    .option('-p, --pipeline <name>', 'with a change: its newest item in this pipeline')
    .addHelpText('after', EXAMPLES)
    .action(async (item: string, change: string | undefined, options: RerunOptions) =>
      done(await withTenantService(io, options, session => rerun(session, item, change, options), 'act')),
    );
}

async function rerun(
  session: Session,
  item: string,
  change: string | undefined,
  options: RerunOptions,
): Promise<number | Refused> {
  const found = await findItem(session, item, change, options.pipeline);
  if (found.kind === 'refused') return found;
  return sendAct<{ readonly outcome: string }>(
    session,
    tenantPath(session, `item/${found.uuid}/rerun`),
    {},
    options,
    ({ outcome }) =>
      outcome === 'enters-again'
        ? `item ${found.uuid} has left: its change enters again shortly, if it may`
        : `failed jobs of item ${found.uuid} run again shortly`,
  );
}
