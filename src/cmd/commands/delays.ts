/** `gatehouse delays` and `gatehouse night`: where the time of a whole pipeline went. */

import type { Command } from 'commander';
import type { DelaysAnswer } from '../../api/delays.ts';
import type { PipelinesDocument } from '../../api/service.ts';
import { delaysLines } from '../../explain/delays-text.ts';
import { painter } from '../../lib/ansi.ts';
import { cutTo } from '../../lib/text-width.ts';
import { type Io, print, printJson } from '../terminal/io.ts';
import { type Refused, refused } from './refused.ts';
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

The figures cover the whole life of every item that left since that time and, up to now, of every item in the queue. "per item" is
the average over all items; p50 and p95 count only items that were in that state. Build time lost is the executors' time for builds
whose results a reset discarded. "gatehouse explain <item>" explains a single item.`;

/** @param done gets the exit status: 1 when the service refuses or is not reached, or there is no pipeline. */
export function addDelaysCommands(program: Command, io: Io, done: (status: number) => void): void {
  addDelaysCommand(program, io, done);
  addNightCommand(program, io, done);
}

function addDelaysCommand(program: Command, io: Io, done: (status: number) => void): void {
  addAskOptions(program.command('delays'))
    .summary('show where the time of a pipeline went')
    .description(
      'Shows where the time of a whole pipeline went: by state, the jobs and changes that caused retests and their cost, the load, and the slowest items.',
    )
    .argument('<pipeline>', 'name of the pipeline, e.g. gate')
    .option('-s, --since <time>', 'start: an age (24h, 90m, 7d) or a time (2026-11-20T12:00:00Z)', '24h')
    .addHelpText('after', EXAMPLES)
    .action(async (pipeline: string, options: DelaysOptions) =>
      done(await withTenantService(io, options, session => delays(session, pipeline, options))),
    );
}

function addNightCommand(program: Command, io: Io, done: (status: number) => void): void {
  addAskOptions(program.command('night'))
    .summary('show where the night went: what slowed a gate, and who did')
    .description(
      'What "delays" shows, of the last twelve hours of a gate: where the time went, who reset whom and what that cost, flaky jobs, and the slowest items.',
    )
    .argument('[pipeline]', 'name of the pipeline; default: the first that merges changes')
    .option('-s, --since <time>', 'start: an age (8h, 24h, 7d) or a time (2026-11-20T22:00:00Z)', '12h')
    .addHelpText('after', NIGHT_EXAMPLES)
    .action(async (pipeline: string | undefined, options: DelaysOptions) =>
      done(await withTenantService(io, options, session => night(session, pipeline, options))),
    );
}

const NIGHT_EXAMPLES = `
Examples:
  gatehouse night
  gatehouse night gate --since 8h`;

async function night(
  session: Session,
  named: string | undefined,
  options: DelaysOptions,
): Promise<number | Refused> {
  if (named !== undefined) return delays(session, named, options);
  const pipelines = await session.api.get<PipelinesDocument>(tenantPath(session, 'pipelines'));
  const found = pipelines.find(({ manager }) => manager === 'dependent') ?? pipelines[0];
  return found === undefined
    ? refused(`tenant ${session.tenant} has no pipeline`)
    : delays(session, found.name, options);
}

async function delays(session: Session, pipeline: string, { since }: DelaysOptions): Promise<number> {
  const { io, api, tenant } = session;
  const path = `pipeline/${encodeURIComponent(pipeline)}/delays?${new URLSearchParams({ since })}`;
  const answer = await api.get<DelaysAnswer>(tenantPath(session, path));
  if (session.json) {
    printJson(io, answer);
    return 0;
  }
  const style = session.style();
  const page = `${painter(style.colour)('page', 'dim')}  ${pipelineAddress(session, pipeline)}`;
  const lines = delaysLines(answer, { ...style, title: `${pipeline} of ${tenant}` });
  print(io, [...lines.map(line => cutTo(line, style.width)), '', page].join('\n'));
  return 0;
}
