/** `gatehouse trace export`: sends the spans of finished items again, from the history to a collector. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { fromMilliseconds, toMilliseconds } from '../../lib/clock.ts';
import { parseDuration } from '../../lib/duration.ts';
import type { Io } from '../terminal/io.ts';
import type { ExportOptions, Moment } from './export-traces.ts';
import { DEFAULT_CONFIG } from './find-socket.ts';

const EXAMPLES = `
Examples:
  gatehouse trace export --since 24h --dry-run
  gatehouse trace export --since 24h
  gatehouse trace export --since 2026-11-20T08:00:00Z --until 2026-11-21T00:00:00Z --pipeline gate
  gatehouse trace export --item 5b8e0f6a1c2d4e3f9a7b6c5d4e3f2a1b --endpoint http://localhost:4317

It runs beside the service and changes nothing there. Spans have the same ids and bytes as the first time if the version and
[tracing], [web] and the connections in the settings file are unchanged, so a backend that already has them gets nothing new. The
export includes the traces of events, operators' requests and background work of that time; with --tenant, --pipeline or --item
only those the items originate from. The history does not hold, and so the export does not send: traces of discarded events,
spans sent by jobs and commands, and spans an executor reported after the item had left.`;

/**
 * @param trace the command `trace`, which gets `export` below it.
 * @param done gets the exit status: 1 when spans were lost or the collector did not take them, 130 when Ctrl-C ends it.
 */
export function addTraceExportCommand(trace: Command, io: Io, done: (status: number) => void): void {
  trace
    .command('export')
    .summary('send the traces of finished items again, from the history')
    .description('Recreates the spans of finished items from the history and sends them to the collector.')
    .option('-c, --config <file>', 'settings file', DEFAULT_CONFIG)
    .option(
      '--since <time>',
      'items that left at or after this time: 24h, 7d, or 2026-11-21T08:00:00Z',
      parseMoment,
    )
    .option('--until <time>', 'items that left before this time, in the same format', parseMoment)
    .option('--tenant <name>', 'only items of this tenant')
    .option('--pipeline <name>', 'only items of this pipeline')
    .option('--item <uuid...>', 'only these items')
    .option('--all', 'also items that sampling left out')
    .option('--dry-run', 'count the spans, send nothing')
    .option('--endpoint <address>', 'collector to use instead of [tracing] endpoint')
    .addOption(new Option('--protocol <name>', 'with --endpoint').choices(['grpc', 'http/protobuf']))
    .addHelpText('after', EXAMPLES)
    // Commander assigns options that `gatehouse trace` also has to that command.
    .action(async (_, command: Command) => {
      const { exportTraces } = await import('./export-traces.ts');
      done(await exportTraces(io, command.optsWithGlobals<ExportOptions>()));
    });
}

function parseMoment(text: string): Moment {
  const seconds = parseDuration(text);
  if (seconds !== undefined)
    return { at: now => fromMilliseconds(Math.max(0, toMilliseconds(now) - seconds * 1000)) };
  const ms = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ms)) throw new InvalidArgumentError('It must be like 24h, 7d or 2026-11-21T08:00:00Z.');
  const time = fromMilliseconds(ms);
  return { at: () => time };
}
