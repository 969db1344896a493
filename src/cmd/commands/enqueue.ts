/** `gatehouse enqueue` and `gatehouse enqueue-ref`: have a change, or a ref, enter a pipeline. */
import type { Command } from 'commander';
import type { Io } from '../terminal/io.ts';
import { type ActOptions, addActOptions, sendAct, whoMayText } from './operator-request.ts';
import { type Session, tenantPath, withTenantService } from './session.ts';

interface EnqueueOptions extends ActOptions {
  readonly pipeline: string;
}

interface EnqueueRefOptions extends EnqueueOptions {
  readonly oldrev?: string;
  readonly newrev?: string;
}

const EXAMPLES = `
Examples:
  gatehouse enqueue acme/app master/login --pipeline gate
  gatehouse enqueue acme/app 12,3 --pipeline check
${whoMayText('a token that names the tenant')}`;

const REF_EXAMPLES = `
Examples:
  gatehouse enqueue-ref acme/app refs/heads/master --pipeline post
  gatehouse enqueue-ref acme/app refs/tags/v1 --pipeline release --newrev 3f2a91c0a3b0a1b2c3d4e5f60718293a4b5c6d7e
${whoMayText('a token that names the tenant')}`;

/** @param done gets the exit status: 0 when the request is stored; the pipeline decides with its next turn. */
export function addEnqueueCommands(program: Command, io: Io, done: (status: number) => void): void {
  addActOptions(program.command('enqueue'))
    .summary('have a change enter a pipeline')
    .description(
      'Has a change enter a pipeline as it is at the code host now. No trigger has to match, and the requirements of the pipeline do not count for it; what the host would not land does not enter.',
    )
    .argument('<project>', 'name of the project, e.g. acme/app')
    .argument(
      '<change>',
      'the change, e.g. master/login; with its patchset only while that is the present one',
    )
    .requiredOption('-p, --pipeline <name>', 'pipeline that it enters')
    .addHelpText('after', EXAMPLES)
    .action(async (project: string, change: string, options: EnqueueOptions) => {
      const body = { pipeline: options.pipeline, change };
      done(
        await withTenantService(io, options, session => ask(session, project, change, body, options), 'act'),
      );
    });
  addActOptions(program.command('enqueue-ref'))
    .summary('have a branch or tag enter a pipeline')
    .description('Has an update of a branch or tag enter a pipeline, as if it had just been pushed.')
    .argument('<project>', 'name of the project, e.g. acme/app')
    .argument('<ref>', 'the ref, e.g. refs/heads/master')
    .requiredOption('-p, --pipeline <name>', 'pipeline that it enters')
    .option('--oldrev <commit>', 'where the ref was before; default: not known')
    .option('--newrev <commit>', 'where the ref is; default: where the branch is now')
    .addHelpText('after', REF_EXAMPLES)
    .action(async (project: string, ref: string, options: EnqueueRefOptions) => {
      const { pipeline, oldrev, newrev } = options;
      const body = { pipeline, ref, oldrev, newrev };
      done(await withTenantService(io, options, session => ask(session, project, ref, body, options), 'act'));
    });
}

function ask(
  session: Session,
  project: string,
  what: string,
  body: { readonly pipeline: string },
  options: ActOptions,
): Promise<number> {
  const path = tenantPath(session, `project/${project.split('/').map(encodeURIComponent).join('/')}/enqueue`);
  const done = `${project} ${what} enters ${body.pipeline} shortly, if it may`;
  return sendAct(session, path, body, options, done);
}
