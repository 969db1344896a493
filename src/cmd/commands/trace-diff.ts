/** `gatehouse trace diff`: an item beside one that went well, phase by phase. */
import type { Command } from 'commander';
import type { Comparison } from '../../explain/compare-items.ts';
import { compareLines } from '../../explain/compare-text.ts';
import { painter } from '../../lib/ansi.ts';
import { cutTo } from '../../lib/text-width.ts';
import { type Io, print, printJson } from '../terminal/io.ts';
import { CHANGE_ARGUMENT, findItem, ITEM_ARGUMENT } from './find-item.ts';
import type { Refused } from './refused.ts';
import { type AskOptions, itemAddress, type Session, tenantPath, withTenantService } from './session.ts';

interface DiffOptions extends AskOptions {
  readonly pipeline?: string;
  readonly with?: string;
}

const EXAMPLES = `
Examples:
  gatehouse trace diff acme/app master/login
  gatehouse trace diff acme/app master/login --pipeline gate
  gatehouse trace diff 0e2c2081 --with 77ab01f2
  gatehouse trace diff 0e2c2081 --json | jq '.phases[] | select(.slower)'

Without --with the other is the last item of the same project and branch that passed in the pipeline, if there is one that
was never tested again.`;

/**
 * @param trace the command `trace`, which gets `diff` below it.
 * @param done gets the exit status: 1 when no item is found, or several are.
 */
export function addTraceDiffCommand(trace: Command, io: Io, done: (status: number) => void): void {
  trace
    .command('diff')
    .summary('show what took longer than in an item that passed')
    .description(
      'Compares the states, jobs and steps of an item with those of another, and with what is usual.',
    )
    .argument('<item>', ITEM_ARGUMENT)
    .argument('[change]', CHANGE_ARGUMENT)
    .option('-w, --with <item>', 'another item of the tenant (uuid, or its first 6 or more digits)')
    .addHelpText('after', EXAMPLES)
    // Commander assigns options that `gatehouse trace` also has to that command.
    .action(async (item: string, change: string | undefined, _, command: Command) => {
      const options = command.optsWithGlobals<DiffOptions>();
      done(await withTenantService(io, options, session => diff(session, item, change, options)));
    });
}

async function diff(
  session: Session,
  item: string,
  change: string | undefined,
  { pipeline, with: named }: DiffOptions,
): Promise<number | Refused> {
  const found = await findItem(session, item, change, pipeline);
  if (found.kind === 'refused') return found;
  const other = named === undefined ? null : await findItem(session, named, undefined);
  if (other?.kind === 'refused') return other;
  const query = other === null ? '' : `?with=${other.uuid}`;
  const comparison = await session.api.get<Comparison>(
    tenantPath(session, `item/${found.uuid}/compare${query}`),
  );
  if (session.json) {
    printJson(session.io, comparison);
    return 0;
  }
  const style = session.style();
  const lines = compareLines(comparison, style).map(line => cutTo(line, style.width));
  const page = `${painter(style.colour)('page', 'dim')}  ${itemAddress(session, found.uuid)}`;
  print(session.io, [...lines, '', page].join('\n'));
  return 0;
}
