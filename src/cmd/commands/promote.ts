/** `gatehouse promote`: moves changes to the heads of their queues. */
import type { Command } from 'commander';
import type { Io } from '../terminal/io.ts';
import { type ActOptions, addActOptions, sendAct, whoMayText } from './operator-request.ts';
import { type Session, tenantPath, withTenantService } from './session.ts';

interface PromoteOptions extends ActOptions {
  readonly pipeline: string;
}

const EXAMPLES = `
Examples:
  gatehouse promote master/login master/logout --pipeline gate
  gatehouse promote "acme/app 12" "acme/lib 7" --pipeline gate
${whoMayText('a token that names the tenant')}`;

/** @param done gets the exit status: 0 when the request is stored; the changes move with the next turn of the pipeline. */
export function addPromoteCommand(program: Command, io: Io, done: (status: number) => void): void {
  addActOptions(program.command('promote'))
    .summary('move changes to the head of their queue')
    .description(
      'Moves changes of a dependent pipeline to the head of their queue, in the order given, each with those it depends on. What was tested on top of other changes is tested again.',
    )
    .argument(
      '<change...>',
      'changes, e.g. master/login; "acme/app 12" where several projects have a change 12',
    )
    .requiredOption('-p, --pipeline <name>', 'pipeline that holds the changes')
    .addHelpText('after', EXAMPLES)
    .action(async (changes: readonly string[], options: PromoteOptions) =>
      done(await withTenantService(io, options, session => promote(session, changes, options), 'act')),
    );
}

function promote(session: Session, changes: readonly string[], options: PromoteOptions): Promise<number> {
  const { pipeline } = options;
  const done = `${changes.join(', ')}: to the head of ${pipeline} shortly`;
  return sendAct(session, tenantPath(session, 'promote'), { pipeline, changes }, options, done);
}
