/** `gatehouse components`, and what an operator asks of one: `pause`, `resume`, `stop-gracefully`. */
import type { Command } from 'commander';
import type { ComponentsJson } from '../../api/components.ts';
import { toMilliseconds } from '../../lib/clock.ts';
import { type Io, print, printJson } from '../terminal/io.ts';
import { componentsLines } from './components-text.ts';
import { type AskOptions, addServiceOptions, type ServiceSession, withService } from './session.ts';

const EXAMPLES = `
Examples:
  gatehouse components
  gatehouse components --json | jq -r '.executor[].hostname'
  gatehouse pause executor-4`;

interface Wish {
  readonly command: string;
  /** Last segment of the path. */
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  /** @param id of the component. */
  readonly done: (id: string) => string;
}

const WISHES: readonly Wish[] = [
  {
    command: 'pause',
    path: 'pause',
    summary: 'let a component take no new work',
    description:
      'Lets a component take no new work; what it has goes on. A scheduler gives its locks to others, mergers and executors claim nothing. It lasts until "resume", or until the process ends.',
    done: id => `${id} takes no new work from now on`,
  },
  {
    command: 'resume',
    path: 'resume',
    summary: 'let a paused component work again',
    description: 'Lets a paused component take work again.',
    done: id => `${id} takes work again`,
  },
  {
    command: 'stop-gracefully',
    path: 'stop',
    summary: 'end a component when its work is done',
    description:
      'Ends a component when what it has is done: builds run to their end, locks are given back. Its process ends with its last component. To end it at once, send SIGINT to the process.',
    done: id => `${id} takes nothing new and ends when it has finished what it has`,
  },
];

export function addComponentCommands(program: Command, io: Io, done: (status: number) => void): void {
  addServiceOptions(program.command('components'))
    .summary('show the processes of the installation')
    .description(
      'Shows every scheduler, merger, executor and web: where it runs, since when, and what it does.',
    )
    .addHelpText('after', EXAMPLES)
    .action(async (options: AskOptions) => done(await withService(io, options, showComponents)));
  for (const wish of WISHES) {
    addServiceOptions(program.command(wish.command))
      .summary(wish.summary)
      .description(wish.description)
      .argument('<id>', 'as "gatehouse components" shows it, such as executor-4')
      .addHelpText(
        'after',
        `\nOn the machine of a web it goes over the service's Unix socket, which its user and root may use; from elsewhere it needs a\ntoken for every tenant.`,
      )
      .action(async (id: string, options: AskOptions) =>
        done(await withService(io, options, session => ask(session, wish, id), 'act')),
      );
  }
}

async function showComponents({ api, io, json, look }: ServiceSession): Promise<number> {
  const components = await api.get<ComponentsJson>('/api/components');
  if (json) printJson(io, components);
  else {
    const now = toMilliseconds(io.clock.now());
    print(io, componentsLines(components, { ...look(), root: api.root, now }).join('\n'));
  }
  return 0;
}

async function ask({ api, io, json }: ServiceSession, wish: Wish, id: string): Promise<number> {
  const answer = await api.post<unknown>(`/api/components/${encodeURIComponent(id)}/${wish.path}`, {});
  if (json) printJson(io, answer);
  else print(io, wish.done(id));
  return 0;
}
