/** `gatehouse explain`: an item's waits, and the cost of its resets. */

import type { Command } from 'commander';
import type { Explanation } from '../../explain/explain.ts';
import { explainText } from '../../explain/explain-text.ts';
import { painter } from '../../lib/ansi.ts';
import { cutTo } from '../../lib/text-width.ts';
import { type Io, print, printJson } from '../terminal/io.ts';
import { CHANGE_ARGUMENT, findItem, ITEM_ARGUMENT } from './find-item.ts';
import type { Refused } from './refused.ts';
import {
  type AskOptions,
  addAskOptions,
  itemAddress,
  type Session,
  tenantPath,
  withTenantService,
} from './session.ts';

interface ExplainOptions extends AskOptions {
  readonly pipeline?: string;
}

const EXAMPLES = `
Examples:
  gatehouse explain acme/app master/login
  gatehouse explain 0e2c2081
  gatehouse explain 0e2c2081 --json | jq .lostBuildTime`;

/** @param done gets the exit status: 1 when no item is found, or several are. */
export function addExplainCommand(program: Command, io: Io, done: (status: number) => void): void {
  addAskOptions(program.command('explain'))
    .summary('show why an item took as long as it did')
    .description(
      'Shows where the time of an item went: by state, the cost of resets, every build, and every wait in order.',
    )
    .argument('<item>', ITEM_ARGUMENT)
    .argument('[change]', CHANGE_ARGUMENT)
    .option('-p, --pipeline <name>', 'with a change: its newest item in this pipeline')
    .addHelpText('after', EXAMPLES)
    .action(async (item: string, change: string | undefined, options: ExplainOptions) =>
      done(await withTenantService(io, options, session => explain(session, item, change, options))),
    );
}

async function explain(
  session: Session,
  item: string,
  change: string | undefined,
  options: ExplainOptions,
): Promise<number | Refused> {
  const found = await findItem(session, item, change, options.pipeline);
  if (found.kind === 'refused') return found;
  const explanation = await session.api.get<Explanation>(tenantPath(session, `item/${found.uuid}/explain`));
  if (session.json) {
    printJson(session.io, explanation);
    return 0;
  }
  const style = session.style();
  const lines = explainText(explanation, style)
    .split('\n')
    .map(line => cutTo(line, style.width));
  print(
    session.io,
    [...lines, '', `${painter(style.colour)('page', 'dim')}  ${itemAddress(session, found.uuid)}`].join('\n'),
  );
  return 0;
}
