/** `gatehouse dequeue`: removes a change from a pipeline. */
import type { Command } from 'commander';
import type { Io } from '../terminal/io.ts';
import { namedProject } from './checkout-project.ts';
import { type ActOptions, addActOptions, sendAct, whoMayText } from './operator-request.ts';
import { type Session, tenantPath, withTenantService } from './session.ts';

interface DequeueOptions extends ActOptions {
  readonly pipeline: string;
}

const EXAMPLES = `
Examples:
  gatehouse dequeue acme/app master/login --pipeline gate
  gatehouse dequeue acme/app refs/heads/master --pipeline post
${whoMayText('a token that names the tenant')}`;

/** @param done gets the exit status: 0 when the request is stored; the item leaves with the next turn of its pipeline. */
export function addDequeueCommand(program: Command, io: Io, done: (status: number) => void): void {
  addActOptions(program.command('dequeue'))
    .summary('remove a change from a pipeline')
    .description(
      'Removes a change from a pipeline, as if it had been withdrawn: its jobs are stopped, and changes tested on top of it are tested again without it.',
    )
    .argument('<project>', 'name of the project, e.g. acme/app; "." is that of the checkout')
    .argument('<change>', 'the change, e.g. master/login, or a ref')
    .requiredOption('-p, --pipeline <name>', 'pipeline that holds the change')
    .addHelpText('after', EXAMPLES)
    .action(async (project: string, change: string, options: DequeueOptions) =>
      done(
        await withTenantService(
          io,
          options,
          async session => {
            const named = await namedProject(session, project);
            return typeof named === 'string' ? dequeue(session, named, change, options) : named;
          },
          'act',
        ),
      ),
    );
}

function dequeue(
  session: Session,
  project: string,
  change: string,
  options: DequeueOptions,
): Promise<number> {
  const { pipeline } = options;
  const what = change.startsWith('refs/') ? { ref: change } : { change };
  const path = tenantPath(session, `project/${project.split('/').map(encodeURIComponent).join('/')}/dequeue`);
  const done = `${project} ${change} leaves ${pipeline} shortly`;
  return sendAct(session, path, { pipeline, ...what }, options, done);
}
