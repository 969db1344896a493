/** `gatehouse delays`: where the time of a whole pipeline went. */

import type { Command } from 'commander';
import type { DelaysAnswer } from '../../api/delays.ts';
import { delaysLines } from '../../explain/delays-text.ts';
import { painter } from '../../lib/ansi.ts';
import { cutTo } from '../../lib/text-width.ts';
import { type Io, print, printJson } from '../terminal/io.ts';
import {
  type AskOptions,
  addAskOptions,
  pipelineAddress,
  type Session,
  tenantPath,
  withTenantService,
} from './session.ts';

interface DelaysOptions extends AskOptions {
  readonly since: string;
}

const EXAMPLES = `
Examples:
  gatehouse delays gate
  gatehouse delays gate --since 7d
  gatehouse delays gate --since 2026-11-20T12:00:00Z
  gatehouse delays gate --json | jq '.resets.byJob'

Counted are the whole lives of the items that left since then and, up to now, of those in the queue. "per item" spreads a state
over all items; p50 and p95 are those of the items that were in it. Build time lost is what executors spent on builds whose
results a reset threw away. "gatehouse explain <item>" tells more of one item.`;

export function addDelaysCommand(program: Command, io: Io, done: (status: number) => void): void {
  addAskOptions(program.command('delays'))
    .summary('tell where the time of a pipeline went')
    .description(
      'Tells where the time of a whole pipeline went: by state, which jobs and changes had others tested again and what that cost, how full it was, and the slowest items.',
    )
    .argument('<pipeline>', 'name of the pipeline, e.g. gate')
    .option('-s, --since <time>', 'how long ago (24h, 90m, 7d), or a time (2026-11-20T12:00:00Z)', '24h')
    .addHelpText('after', EXAMPLES)
    .action(async (pipeline: string, options: DelaysOptions) =>
      done(await withTenantService(io, options, session => delays(session, pipeline, options))),
    );
}

async function delays(session: Session, pipeline: string, { since }: DelaysOptions): Promise<number> {
  const { io, api, tenant } = session;
  const path = `pipeline/${encodeURIComponent(pipeline)}/delays?${new URLSearchParams({ since })}`;
  const answer = await api.get<DelaysAnswer>(tenantPath(session, path));
  if (session.json) {
    printJson(io, answer);
    return 0;
  }
  const look = session.look();
  const page = `${painter(look.colour)('page', 'dim')}  ${pipelineAddress(session, pipeline)}`;
  const lines = delaysLines(answer, { ...look, title: `${pipeline} of ${tenant}` });
  print(io, [...lines.map(line => cutTo(line, look.width)), '', page].join('\n'));
  return 0;
}
