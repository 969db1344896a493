/** `gatehouse components`, and the commands that change a component's state: `pause`, `resume`, `stop-gracefully`. */
import type { Command } from 'commander';
import type { ComponentsJson } from '../../api/components.ts';
import { toMilliseconds } from '../../lib/clock.ts';
import { type Io, print, printJson } from '../terminal/io.ts';
import { componentsLines } from './components-text.ts';
import { sendRequest, whoMayText } from './operator-request.ts';
import { type AskOptions, addServiceOptions, type ServiceSession, withService } from './session.ts';

const EXAMPLES = `
Examples:
  gatehouse components
  gatehouse components --json | jq -r '.executor[].hostname'
  gatehouse pause executor-4`;

interface StateCommand {
  readonly command: string;
  /** Last segment of the path. */
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  /** @param id of the component. */
  readonly done: (id: string) => string;
}

const STATE_COMMANDS: readonly StateCommand[] = [
  {
    command: 'pause',
    path: 'pause',
    summary: 'pause a component: it takes no new work',
    description:
      'Pauses a component: it takes no new work and finishes the work it has. A scheduler releases its locks to other schedulers; mergers and executors claim no requests. The pause lasts until "resume", or until the process ends.',
    done: id => `${id} takes no new work from now on`,
  },
  {
    command: 'resume',
    path: 'resume',
    summary: 'resume a paused component',
    description: 'Resumes a paused component: it takes new work again.',
    done: id => `${id} takes work again`,
  },
  {
    command: 'stop-gracefully',
    path: 'stop',
    summary: 'stop a component when its work is done',
    description:
      'Stops a component when its work is done: builds run to their end, locks are released. Its process exits with its last component. To stop immediately, send SIGINT to the process.',
    done: id => `${id} takes no new work and stops when its work is done`,
  },
];

/**
 * @param done gets the exit status: 1 when the service refuses or is not reached. 0 means that the request is stored, not that it
 * is met.
 */
export function addComponentCommands(program: Command, io: Io, done: (status: number) => void): void {
  addServiceOptions(program.command('components'))
    .summary('show the processes of the installation')
    .description('Shows every scheduler, merger, executor and web: its host, its uptime and its state.')
    .addHelpText('after', EXAMPLES)
    .action(async (options: AskOptions) => done(await withService(io, options, showComponents)));
  for (const wanted of STATE_COMMANDS) {
    addServiceOptions(program.command(wanted.command))
      .summary(wanted.summary)
      .description(wanted.description)
      .argument('<id>', 'as "gatehouse components" shows it, such as executor-4')
      .addHelpText('after', whoMayText('a token for every tenant'))
      .action(async (id: string, options: AskOptions) =>
        done(await withService(io, options, session => request(session, wanted, id), 'act')),
      );
  }
}

async function showComponents({ api, io, json, style }: ServiceSession): Promise<number> {
  const components = await api.get<ComponentsJson>('/api/components');
  if (json) printJson(io, components);
  else {
    const now = toMilliseconds(io.clock.now());
    print(io, componentsLines(components, { ...style(), root: api.root, now }).join('\n'));
  }
  return 0;
}

function request(session: ServiceSession, { path, done }: StateCommand, id: string): Promise<number> {
  return sendRequest(session, `/api/components/${encodeURIComponent(id)}/${path}`, {}, done(id));
}
