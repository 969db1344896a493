/** `gatehouse pipeline pause|drain|resume`: keeps a pipeline, or one of its queues, from going on, with the reason for all to read. */
import type { Command } from 'commander';
import type { Io } from '../terminal/io.ts';
import { type ActOptions, addActOptions, sendAct, whoMayText } from './operator-request.ts';
import { type Session, tenantPath, withTenantService } from './session.ts';

interface HaltOptions extends ActOptions {
  readonly queue?: string;
  readonly reason?: string;
}

interface StateCommand {
  readonly name: string;
  /** In the request. */
  readonly state: string;
  readonly summary: string;
  readonly description: string;
  readonly needsReason: boolean;
  readonly done: string;
}

const COMMANDS: readonly StateCommand[] = [
  {
    name: 'pause',
    state: 'paused',
    summary: 'start no jobs in a pipeline',
    description:
      'Starts no jobs in a pipeline, or in one of its queues. What runs goes on, and what has passed lands. The reason is shown to all who may read the tenant.',
    needsReason: true,
    done: 'starts no jobs from now on',
  },
  {
    name: 'drain',
    state: 'draining',
    summary: 'let nothing enter a pipeline',
    description:
      'Lets nothing enter a pipeline, or one of its queues. What is inside finishes; what would enter waits and enters with "resume", in order. The reason is shown to all who may read the tenant.',
    needsReason: true,
    done: 'takes no changes from now on',
  },
  {
    name: 'resume',
    state: 'normal',
    summary: 'let a pipeline go on',
    description: 'Lets a pipeline, or one of its queues, go on after "pause" or "drain".',
    needsReason: false,
    done: 'goes on shortly',
  },
];

const EXAMPLES = `
Examples:
  gatehouse pipeline pause gate --reason "the test cluster is being moved"
  gatehouse pipeline drain gate --queue integrated --reason "release at noon"
  gatehouse pipeline resume gate
${whoMayText('a token that names the tenant')}`;

/** @param done gets the exit status: 0 when the request is stored; the pipeline obeys with its next turn. */
export function addPipelineCommands(program: Command, io: Io, done: (status: number) => void): void {
  const group = program
    .command('pipeline')
    .summary('pause or drain a pipeline, and let it go on')
    .description(
      'Keeps a pipeline, or one of its queues, from going on, with a reason that is shown to all who may read the tenant.',
    )
    .addHelpText('after', EXAMPLES);
  for (const wanted of COMMANDS) {
    const command = addActOptions(group.command(wanted.name))
      .summary(wanted.summary)
      .description(wanted.description)
      .argument('<pipeline>', 'name of the pipeline')
      .option('-q, --queue <name>', 'only this queue, as "gatehouse status" shows it')
      .addHelpText('after', EXAMPLES);
    if (wanted.needsReason) command.requiredOption('-r, --reason <text>', 'why, for all to read');
    command.action(async (pipeline: string, options: HaltOptions) =>
      done(await withTenantService(io, options, session => ask(session, wanted, pipeline, options), 'act')),
    );
  }
}

function ask(
  session: Session,
  { state, done }: StateCommand,
  pipeline: string,
  options: HaltOptions,
): Promise<number> {
  const { queue, reason } = options;
  const path = tenantPath(session, `pipeline/${encodeURIComponent(pipeline)}/state`);
  const what = queue === undefined ? pipeline : `queue ${queue} of ${pipeline}`;
  return sendAct(session, path, { state, queue, reason }, options, `${what} ${done}`);
}
