/**
 * The queues of a tenant as text: pure.
 *
 *     acme  2 items in gate                                                            http://127.0.0.1:9000
 *
 *     gate  dependent · queue integrated · window 20
 *      1 ● acme/app master/login,3f2a91c0                       running              42s of  1m 02s  5b1c09aa
 *          ◷ lands in about 4m 10s (2m 20s to 9m 00s)
 *          ✓ unit-tests 3.1s   ● integration-tests 39s of ~60s
 *      2 ✗ acme/api master/basket,deadbeef                      awaits its turn     2.0s of     58s  77aa3c01
 *          ✗ unit-tests FAILURE 4.0s
 *          ✗ will not merge: at least one job failed
 *          … waits for acme/app master/login,3f2a91c0 ahead to leave
 *     empty: check, post
 */

import type { LiveItem } from '../../api/live-item.ts';
import type { LivePipeline } from '../../api/live-view.ts';
import { type Colour, type Paint, painter } from '../../lib/ansi.ts';
import { durationText } from '../../lib/duration-text.ts';
import { cutTo, padded, printable, toWidth, widthOf } from '../../lib/text-width.ts';
import type { FollowedTenant } from '../client/follow.ts';
import type { TerminalStyle } from '../terminal/style.ts';
import { wrapWords } from '../terminal/wrap-text.ts';
import { forecastText } from './forecast-text.ts';
import { itemNotes } from './item-notes.ts';
import { itemState } from './item-state.ts';

/** Names that the view lacks, and the size of the picture. */
export interface StatusOptions extends TerminalStyle {
  readonly tenant: string;
  /** Of the service, without trailing slash. */
  readonly root: string;
  /** Milliseconds on the service's clock. */
  readonly now: number;
  /** Only this one; undefined: all. */
  readonly pipeline?: string;
}

interface Drawing extends StatusOptions {
  readonly paint: Paint;
  readonly view: FollowedTenant;
}

/** Pipelines with items in the order of the configuration, then the names of the empty ones. */
export function statusLines(view: FollowedTenant, options: StatusOptions): readonly string[] {
  const drawing: Drawing = { ...options, paint: painter(options.colour), view };
  const pipelines = view.pipelines.filter(
    ({ name }) => options.pipeline === undefined || name === options.pipeline,
  );
  const busy = pipelines.filter(pipeline => pipeline.queues.length > 0);
  const idle = pipelines.filter(pipeline => pipeline.queues.length === 0);
  return [
    headLine(busy, drawing),
    ...troubleLines(drawing),
    ...busy.flatMap(pipeline => ['', ...pipelineLines(pipeline, drawing)]),
    ...(idle.length === 0 ? [] : ['', ...idleLines(idle, drawing)]),
  ];
}

function headLine(busy: readonly LivePipeline[], { tenant, root, width, paint }: Drawing): string {
  const count = busy.reduce((sum, pipeline) => sum + itemCount(pipeline), 0);
  const where = busy.map(({ name }) => name).join(', ');
  const text = count === 0 ? 'nothing is queued' : `${count} ${count === 1 ? 'item' : 'items'} in ${where}`;
  const page = `${root}/`;
  const room = width - widthOf(page) - 1;
  const left = `${paint(tenant, 'bold')}  ${text}`;
  return widthOf(tenant) + 2 + widthOf(text) > room
    ? cutTo(left, width)
    : `${padded(left, room)} ${paint(page, 'dim')}`;
}

function troubleLines({ view, width, paint, root, tenant, now }: Drawing): readonly string[] {
  const errors = view.tenant?.configErrors ?? 0;
  const problem = view.tracing?.problem ?? null;
  const waiting = view.tracing?.waiting ?? 0;
  const away = view.tenant?.awaySince ?? null;
  const texts = [
    ...(away === null
      ? []
      : [
          `no contact with the store for ${durationText(Math.max(0, now - away))}; showing the last known state`,
        ]),
    ...(view.tenant?.missing ?? []).map(kind => `no ${kind} is registered: see "gatehouse components"`),
    ...(errors === 0
      ? []
      : [
          `${errors} configuration ${errors === 1 ? 'error' : 'errors'}: ${root}/api/tenant/${encodeURIComponent(tenant)}/config-errors`,
        ]),
    ...view.pipelines.flatMap(({ name, halts }) => (halts ?? []).map(halt => haltLine(name, halt, now))),
    ...(problem === null ? [] : [`spans are not delivered (${waiting} waiting): ${printable(problem)}`]),
  ];
  return texts.flatMap(text => wrapWords(text, '! ', width).map(line => paint(line, 'yellow')));
}

/** A service of 0.3 names none. */
function haltLine(pipeline: string, halt: LivePipeline['halts'][number], now: number): string {
  const what = halt.queue === null ? pipeline : `queue ${halt.queue} of ${pipeline}`;
  const since = durationText(Math.max(0, now - halt.since));
  const state = halt.mode === 'pause' ? 'is paused' : 'takes no changes';
  return printable(`${what} ${state} for ${since}, by ${halt.by}: ${halt.reason}`);
}

function idleLines(idle: readonly LivePipeline[], { width, paint }: Drawing): readonly string[] {
  const names = idle.map(pipeline => {
    const waiting = pipeline.events === 0 ? '' : ` (${pipeline.events} events waiting)`;
    return `${pipeline.name}${pipeline.disabled ? ' (disabled)' : ''}${waiting}`;
  });
  return wrapWords(names.join(', '), 'empty: ', width).map(line => paint(line, 'dim'));
}

function pipelineLines(pipeline: LivePipeline, drawing: Drawing): readonly string[] {
  const { paint, width } = drawing;
  const shared = pipeline.manager !== 'independent';
  const many = shared && pipeline.queues.length > 1;
  const [first] = pipeline.queues;
  const facts = [
    pipeline.manager,
    ...(shared && !many && first !== undefined ? queueFacts(first) : []),
    ...(pipeline.events === 0 ? [] : [`${pipeline.events} events waiting`]),
  ];
  const disabled = pipeline.disabled ? `  ${paint('disabled after too many failures', 'red')}` : '';
  return [
    cutTo(`${paint(pipeline.name, 'bold', 'cyan')}${disabled}  ${paint(facts.join(' · '), 'dim')}`, width),
    ...pipeline.queues.flatMap(queue => [
      ...(many ? [paint(cutTo(`  ${queueFacts(queue).join(' · ')}`, width), 'dim')] : []),
      ...queueLines(queue, pipeline.manager === 'dependent', drawing),
    ]),
  ];
}

function queueFacts({ name, window }: LivePipeline['queues'][number]): readonly string[] {
  return [`queue ${printable(name)}`, window === 0 ? 'no window' : `window ${window}`];
}

function queueLines(
  queue: LivePipeline['queues'][number],
  speculative: boolean,
  drawing: Drawing,
): readonly string[] {
  const items = queue.items.flatMap(uuid => drawing.view.items.get(uuid) ?? []);
  return items.flatMap((item, index) => {
    const without = speculative ? steppedOver(item, items.slice(0, index)) : [];
    return itemLines(item, index + 1, without, drawing);
  });
}

/** Places of the items ahead that this one is tested without. */
function steppedOver(item: LiveItem, ahead: readonly LiveItem[]): readonly number[] {
  const above = new Set<string>();
  for (let next = item.behind; next !== null; ) {
    above.add(next);
    next = ahead.find(({ uuid }) => uuid === next)?.behind ?? null;
  }
  return ahead.flatMap(({ uuid, role }, index) => (above.has(uuid) || role !== 'live' ? [] : [index + 1]));
}

const INDENT = ' '.repeat(6);
const STATE_WIDTH = 16;
const TIME_WIDTH = 7;
/** Narrower pictures omit the total time. */
const WIDE = 110;

function itemLines(
  item: LiveItem,
  place: number,
  without: readonly number[],
  drawing: Drawing,
): readonly string[] {
  const { paint, width, now } = drawing;
  const { mark, word, colour } = itemState(item);
  const [change, ...others] = item.changes;
  const since = durationText(Math.max(0, now - item.state.since));
  const total = durationText(Math.max(0, now - item.enqueuedAt));
  const state = paint(`${toWidth(word, STATE_WIDTH)} ${toWidth(since, TIME_WIDTH, 'right')}`, ...colour);
  const all = width < WIDE ? '' : paint(` of ${toWidth(total, TIME_WIDTH, 'right')}`, 'dim');
  const right = `${state}${all}  ${paint(item.uuid.slice(0, 8), 'dim')}`;
  const room = Math.max(16, width - INDENT.length - 2 - widthOf(right));
  const text = printable(change?.text ?? item.uuid);
  const left = `${toWidth(String(place), 3, 'right')} ${paint(mark, ...colour)}`;
  return [
    `${left} ${changeCell(text, change?.subject ?? null, room, paint)}  ${right}`,
    ...others.flatMap(other => wrapWords(printable(other.text), `${INDENT}and `, width)),
    ...(item.active && without.length > 0
      ? wrapWords(`tested without ${placesText(without)}`, INDENT, width).map(line => paint(line, 'dim'))
      : []),
    ...forecastLines(item, drawing),
    ...itemNotes(item, { width, paint, now, indent: INDENT }),
  ];
}

function forecastLines({ uuid }: LiveItem, { view, width, paint, now }: Drawing): readonly string[] {
  const forecast = view.forecasts.get(uuid);
  if (forecast === undefined) return [];
  const text = printable(forecastText(forecast, now));
  return wrapWords(text, `${INDENT}◷ `, width).map(line => paint(line, 'dim'));
}

function placesText(places: readonly number[]): string {
  return places.length === 1 ? `item ${places[0]}` : `items ${places.join(', ')}`;
}

/** The change, and its subject where there is room. */
function changeCell(text: string, subject: string | null, room: number, paint: Paint): string {
  const rest = room - widthOf(text) - 2;
  const bold: readonly Colour[] = ['bold'];
  if (subject === null || rest < 12) return paint(toWidth(text, room), ...bold);
  return `${paint(text, ...bold)}  ${paint(toWidth(printable(subject), rest), 'dim')}`;
}

function itemCount({ queues }: LivePipeline): number {
  return queues.reduce((sum, queue) => sum + queue.items.length, 0);
}
