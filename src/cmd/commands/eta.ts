/** `gatehouse eta`: when items will probably leave, and how right such forecasts were. */
import type { Command } from 'commander';
import type { CalibrationDocument } from '../../api/forecast.ts';
import { didYouMean } from '../../lib/nearest-name.ts';
import { printable } from '../../lib/text-width.ts';
import { currentView, type FollowedTenant } from '../client/follow.ts';
import { type Io, print, printJson } from '../terminal/io.ts';
import { wrapPieces } from '../terminal/wrap-text.ts';
import { calibrationLines, forecastText } from './forecast-text.ts';
import { type Refused, refused } from './refused.ts';
import { type AskOptions, addAskOptions, type Session, tenantPath, withTenantService } from './session.ts';

interface EtaOptions extends AskOptions {
  readonly calibration?: boolean;
  readonly since?: string;
}

const EXAMPLES = `
Examples:
  gatehouse eta
  gatehouse eta gate
  gatehouse eta gate --calibration --since 14d
  gatehouse eta gate --json | jq '.[].items'

Each time is the middle of many futures, played forward from the queue as it is: jobs take as long, and fail as often, as they did
lately. The range in parentheses holds for eight of ten items; --calibration says whether it did.`;

/** @param done gets the exit status: 1 when the service refuses or is not reached, or the tenant has no such pipeline. */
export function addEtaCommand(program: Command, io: Io, done: (status: number) => void): void {
  addAskOptions(program.command('eta'))
    .summary('show when items will probably land')
    .description('Shows when the items of a pipeline, by default of all pipelines, will probably leave it.')
    .argument('[pipeline]', 'name of a pipeline')
    .option('--calibration', 'instead show how right forecasts were for items that have landed')
    .option('--since <time>', 'with --calibration: a time or an age such as 24h (default: 7d)')
    .addHelpText('after', EXAMPLES)
    .action(async (pipeline: string | undefined, options: EtaOptions) =>
      done(await withTenantService(io, options, session => eta(session, pipeline, options))),
    );
}

async function eta(
  session: Session,
  wanted: string | undefined,
  { calibration, since }: EtaOptions,
): Promise<number | Refused> {
  if (since !== undefined && calibration !== true) return refused('--since needs --calibration');
  const view = await currentView(session.api, session.tenant);
  const names = view.pipelines.map(({ name }) => name);
  if (wanted !== undefined && !names.includes(wanted)) {
    const hint = didYouMean(wanted, names) || `; it has: ${names.join(', ') || 'none'}`;
    return refused(`tenant ${session.tenant} has no pipeline "${wanted}"${hint}`);
  }
  const chosen = names.filter(name => wanted === undefined || name === wanted);
  return calibration === true
    ? showCalibration(session, chosen, since)
    : showForecasts(session, view, chosen);
}

function showForecasts(session: Session, view: FollowedTenant, chosen: readonly string[]): number {
  const pipelines = view.pipelines.filter(({ name }) => chosen.includes(name));
  const found = pipelines.map(({ name, queues }) => ({
    pipeline: name,
    items: queues.flatMap(({ items }) =>
      items.flatMap(uuid => {
        const [item, forecast] = [view.items.get(uuid), view.forecasts.get(uuid)];
        return item === undefined || forecast === undefined ? [] : [{ item, forecast }];
      }),
    ),
  }));
  if (session.json) {
    const json = found.map(({ pipeline, items }) => ({
      pipeline,
      items: items.map(({ item, forecast }) => ({ uuid: item.uuid, ...forecast })),
    }));
    printJson(session.io, json);
    return 0;
  }
  const lines = found.flatMap(({ pipeline, items }) =>
    items.flatMap(({ item, forecast }) => {
      const text = printable(item.changes[0]?.text ?? item.uuid);
      const line = `${pipeline} ${forecast.place}  ${text}  ${forecastText(forecast, view.sentAt)}`;
      // Words of a pipe stay on a line of their item.
      return session.io.stdout.isTTY === true
        ? wrapPieces(line.split(' '), '', ' ', session.style().width)
        : [line];
    }),
  );
  print(session.io, lines.length === 0 ? 'nothing is queued' : lines.join('\n'));
  return 0;
}

async function showCalibration(
  session: Session,
  chosen: readonly string[],
  since: string | undefined,
): Promise<number> {
  const { api, json, io } = session;
  const query = since === undefined ? '' : `?${new URLSearchParams({ since })}`;
  const all: CalibrationDocument[] = [];
  for (const pipeline of chosen) {
    const path = `pipeline/${encodeURIComponent(pipeline)}/forecast/calibration${query}`;
    all.push(await api.get<CalibrationDocument>(tenantPath(session, path)));
  }
  if (json) printJson(io, all);
  else print(io, all.flatMap(calibrationLines).join('\n'));
  return 0;
}
