/**
 * The work of `gatehouse trace export`. Loaded when it is called: with history, drivers and OpenTelemetry it takes half a second of
 * processor time, which no other command needs.
 */
import { type FinishedItems, openFinishedItems } from '../../history/finished-items.ts';
import type { Nanoseconds } from '../../lib/clock.ts';
import { isUuid } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';
import { pause } from '../../lib/pause.ts';
import type { SettingOverrides } from '../../settings/parse-settings.ts';
import { readSections } from '../../settings/read-settings.ts';
import { publicRoot, type Settings } from '../../settings/settings.ts';
import type { TracingOn } from '../../settings/tracing-settings.ts';
import { exportedSpans } from '../../tracing/spans/item-spans.ts';
import { backFill } from '../back-fill.ts';
import { driverTable } from '../service/driver-table.ts';
import { spanOptions } from '../service/live-tracing.ts';
import { noRepositories } from '../service/no-repositories.ts';
import { openConnections } from '../service/open-connections.ts';
import { machineName, onlyHost } from '../service/own-installation.ts';
import { createSpanSender } from '../service/span-delivery.ts';
import type { Io } from '../terminal/io.ts';
import { createScreen } from '../terminal/screen.ts';
import { VERSION } from '../version.ts';
import { type Refused, refused } from './refused.ts';
import { complain } from './session.ts';
import { printEnd, progressText } from './trace-export-text.ts';

/** As the command line gives them. */
export interface ExportOptions {
  readonly config: string;
  readonly since?: Moment;
  readonly until?: Moment;
  readonly tenant?: string;
  readonly pipeline?: string;
  readonly item?: readonly string[];
  readonly all?: boolean;
  readonly dryRun?: boolean;
  readonly endpoint?: string;
  readonly protocol?: string;
}

/** A time as given, resolved when the command begins. */
export interface Moment {
  readonly at: (now: Nanoseconds) => Nanoseconds;
}

/** Sections of the settings file that the command reads. */
const SECTIONS = ['scheduler', 'tracing', 'web', 'store', 'database', 'connections'] as const;
/** Milliseconds for pending requests when the command ends. */
const SEND_GRACE = 5_000;
/** Bounded by one database query, which names them all. */
const MOST_ITEMS = 200;

/** @returns the exit status. */
export async function exportTraces(io: Io, options: ExportOptions): Promise<number> {
  const outcome = await prepare(io, options);
  if (outcome.kind === 'refused') return complain(io, outcome.text);
  await using items = outcome.items;
  return await run(io, options, { ...outcome, items });
}

interface Prepared {
  readonly kind: 'prepared';
  readonly settings: Pick<Settings, (typeof SECTIONS)[number]>;
  readonly tracing: TracingOn;
  readonly items: FinishedItems;
  readonly instance: string;
}

async function prepare({ environment, stderr }: Io, options: ExportOptions): Promise<Prepared | Refused> {
  const { item = [], since } = options;
  if (since === undefined && item.length === 0)
    return refused('select items: --since 24h for those of the last day, or --item UUID');
  const strange = item.find(each => !isUuid(each));
  if (strange !== undefined)
    return refused(`"${strange}" is not the uuid of an item (32 hexadecimal digits)`);
  if (item.length > MOST_ITEMS) return refused(`more than ${MOST_ITEMS} --item; use --since and --until`);
  const read = readSections(options.config, environment, {
    wanted: SECTIONS,
    overrides: overridesOf(options),
  });
  if (read.kind === 'invalid') return refused(read.errors.join('\nerror: '));
  const { settings } = read;
  const { tracing, web } = settings;
  if (tracing.kind === 'off')
    return refused(`tracing is off (${tracing.why}); name a collector with --endpoint http://host:4317`);
  if (web.root === undefined && web.port === 0)
    stderr.write('warning: [web] has neither root nor port: URLs in the spans are invalid\n');
  const opened = await openFinishedItems(settings.database);
  if (opened.kind === 'refused') return opened;
  const { items } = opened;
  if (items.installation !== null)
    return { kind: 'prepared', settings, tracing, items, instance: items.installation };
  await items[Symbol.asyncDispose]();
  return refused('no service of this version has written to the history yet; start the service once');
}

/** `--endpoint` enables tracing even if the settings file disables it. */
function overridesOf({ endpoint, protocol }: ExportOptions): SettingOverrides {
  const tracing = new Map<string, string>();
  if (endpoint !== undefined) tracing.set('endpoint', endpoint).set('enabled', 'true');
  if (protocol !== undefined) tracing.set('protocol', protocol);
  return tracing.size === 0 ? new Map() : new Map([['tracing', tracing]]);
}

async function run(
  io: Io,
  options: ExportOptions,
  { settings, tracing, items, instance }: Prepared,
): Promise<number> {
  const { clock } = io;
  const now = clock.now();
  const repositories = noRepositories('this command reads the history only');
  const { connections } = await openConnections(settings.connections, driverTable, {
    clock,
    log: SILENT,
    repositories,
  });
  const spanSettings = spanOptions(tracing, connections, () => publicRoot(settings.web));
  const sender =
    options.dryRun === true
      ? undefined
      : createSpanSender({
          settings: tracing,
          clock,
          log: SILENT,
          version: VERSION,
          instance,
          host: onlyHost(settings, machineName(settings)),
          backlog: () => 0,
        });
  const screen = createScreen(io.stderr);
  const time = {
    ...(options.since === undefined ? {} : { since: options.since.at(now) }),
    ...(options.until === undefined ? {} : { until: options.until.at(now) }),
  };
  const isNarrow = (options.tenant ?? options.pipeline ?? options.item) !== undefined;
  const outcome = await backFill({
    traces: isNarrow
      ? { kind: 'of-items', find: ids => items.tracesOf(ids) }
      : { kind: 'all', page: after => items.traces({ after, ...time }) },
    page: after =>
      items.page({
        after,
        ...time,
        ...(options.tenant === undefined ? {} : { tenant: options.tenant }),
        ...(options.pipeline === undefined ? {} : { pipeline: options.pipeline }),
        ...(options.item === undefined ? {} : { uuids: options.item }),
      }),
    spansOf: item => exportedSpans(item, spanSettings),
    sender,
    all: options.all === true,
    clock,
    pause,
    signal: io.interrupted(),
    onProgress: progress => screen.frame([progressText(progress)]),
  });
  screen.frame([]);
  const lost = Object.entries(sender?.health().lost ?? {}).filter(([, count]) => count > 0);
  await sender?.close(SEND_GRACE);
  return printEnd(io, outcome, { sent: sender !== undefined, endpoint: tracing.endpoint, lost });
}

/** The command prints progress and result itself. */
const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {}, child: () => SILENT };
