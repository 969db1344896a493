/** `gatehouse trace`: an item's spans as a waterfall, open ones included. */
import { type Command, InvalidArgumentError } from 'commander';
import type { LiveItem } from '../../api/live-item.ts';
import { waterfall } from '../../explain/waterfall.ts';
import { painter } from '../../lib/ansi.ts';
import { printable } from '../../lib/text-width.ts';
import { followTenant } from '../client/follow.ts';
import { type OtlpTraceDocument, spansFromOtlp } from '../client/spans-from-otlp.ts';
import { type Io, print, printJson } from '../terminal/io.ts';
import { createScreen } from '../terminal/screen.ts';
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
import { addTraceDiffCommand } from './trace-diff.ts';
import { addTraceExportCommand } from './trace-export.ts';

interface TraceOptions extends AskOptions {
  readonly depth?: number;
  readonly follow?: boolean;
  readonly pipeline?: string;
}

interface Trace {
  readonly otlp: OtlpTraceDocument;
  readonly item: LiveItem;
}

/** Milliseconds between two pictures of a live item: its open spans grow. */
const TICK = 1000;
const INTERRUPTED = 130;

const EXAMPLES = `
Examples:
  gatehouse trace acme/app master/login
  gatehouse trace acme/app master/login --pipeline gate --follow
  gatehouse trace 0e2c2081 --depth 2
  gatehouse trace 0e2c2081 --json > trace.json      (OTLP JSON)

Waits are shaded, failures red, stopped or repeated work yellow; ▶ marks an open span.`;

/** Also adds `trace diff` and `trace export`. @param done gets the exit status: 1 when no item is found, 130 when Ctrl-C ends `--follow`. */
export function addTraceCommand(program: Command, io: Io, done: (status: number) => void): void {
  const command = addAskOptions(program.command('trace'))
    .summary('show where the time of an item went, as a waterfall')
    .description(
      'Draws the trace of an item, live or finished: every wait, merge, build and report as a bar.',
    )
    .argument('<item>', ITEM_ARGUMENT)
    .argument('[change]', CHANGE_ARGUMENT)
    .option('-d, --depth <levels>', 'levels of spans to show; 0 is the item alone (default: all)', parseDepth)
    .option('-f, --follow', 'redraw until the item leaves its pipeline')
    .option('-p, --pipeline <name>', 'with a change: its newest item in this pipeline')
    .addHelpText('after', EXAMPLES)
    .action(async (item: string, change: string | undefined, options: TraceOptions) =>
      done(await withTenantService(io, options, session => trace(session, item, change, options))),
    );
  addTraceDiffCommand(command, io, done);
  addTraceExportCommand(command, io, done);
}

function parseDepth(text: string): number {
  if (!/^\d{1,3}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}

async function trace(
  session: Session,
  item: string,
  change: string | undefined,
  options: TraceOptions,
): Promise<number | Refused> {
  const found = await findItem(session, item, change, options.pipeline);
  if (found.kind === 'refused') return found;
  const first = await readTrace(session, found.uuid);
  if (options.follow === true && first.item.left === null) return followTrace(session, first, options);
  show(session, first, options);
  return 0;
}

async function readTrace(session: Session, uuid: string): Promise<Trace> {
  const { api } = session;
  const item = await api.get<LiveItem>(tenantPath(session, `item/${uuid}`));
  return { item, otlp: await api.get<OtlpTraceDocument>(tenantPath(session, `item/${uuid}/trace`)) };
}

function show(session: Session, read: Trace, options: TraceOptions): void {
  if (session.json) printJson(session.io, read.otlp);
  else print(session.io, picture(session, read, options).join('\n'));
}

function picture(session: Session, { otlp, item }: Trace, { depth }: TraceOptions): readonly string[] {
  const style = session.style();
  const paint = painter(style.colour);
  const now = session.io.clock.now();
  const text = waterfall(spansFromOtlp(otlp), {
    ...style,
    now,
    ...(depth === undefined ? {} : { maxDepth: depth }),
  });
  const page = itemAddress(session, item.uuid);
  return [
    ...text.split('\n'),
    '',
    `${paint('page ', 'dim')}  ${page}`,
    ...(item.traceUrl === null ? [] : [`${paint('trace', 'dim')}  ${printable(item.traceUrl)}`]),
  ];
}

/** On a terminal redrawn until the item has left; elsewhere printed once it has. */
async function followTrace(session: Session, first: Trace, options: TraceOptions): Promise<number> {
  const { io, api, tenant } = session;
  const interrupted = io.interrupted();
  const left = new AbortController();
  const screen = createScreen(io.stdout);
  const live = screen.live && !session.json;
  let read = first;
  const draw = () => screen.frame(picture(session, read, options));
  const ticking = live ? setInterval(draw, TICK) : undefined;
  if (live) draw();
  try {
    let known = '';
    for await (const { items } of followTenant(api, tenant, AbortSignal.any([interrupted, left.signal]))) {
      const document = JSON.stringify(items.get(first.item.uuid));
      if (document === known) continue;
      known = document;
      read = await readTrace(session, first.item.uuid);
      if (live) draw();
      if (read.item.left !== null) left.abort();
    }
  } finally {
    clearInterval(ticking);
  }
  if (live) draw();
  else show(session, read, options);
  return interrupted.aborted ? INTERRUPTED : 0;
}
