/**
 * The processes of an installation as text: pure.
 *
 *     4 components on ci1, ci2                                                         http://127.0.0.1:9000
 *
 *     scheduler
 *       ● scheduler-0   running    up 3h 12m   ci1   pid 4711
 *     executor
 *       ● executor-4    running    up 2m 05s   ci2   pid 99     linux gpu
 *       ‖ executor-7    paused     up 2m 05s   ci1   pid 4712
 *           ! memory: NO WALL (this system has no cgroup v2; there is no cgroup v1 for memory)
 *           disabled in its settings: disk
 *     merger
 *       ! none: nothing is merged until one is started
 *     web
 *       ◌ web-1         stopping   up 3h 12m   ci1   pid 4713   0.1.0
 *
 * Versions are shown only if they differ, as during an upgrade. Walls (the limits between jobs and their machine) are shown only if
 * they are missing or disabled.
 */

import type { ComponentJson, ComponentsJson } from '../../api/components.ts';
import { type Colour, type Paint, painter } from '../../lib/ansi.ts';
import { durationText } from '../../lib/duration-text.ts';
import { cutTo, padded, printable, widthOf } from '../../lib/text-width.ts';
import { wallText } from '../../model/wall.ts';
import type { TerminalStyle } from '../terminal/style.ts';

/** Uptimes count up to `now`; the first line names `root`. */
export interface ComponentsOptions extends TerminalStyle {
  /** Of the service, without trailing slash. */
  readonly root: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Consequence of having no component of a kind. */
const MISSED: { readonly [kind: string]: string } = {
  scheduler: 'nothing is enqueued or decided until one starts',
  merger: 'nothing is merged and no configuration is read until one starts',
  executor: 'no job runs until one starts',
};

const STYLES: { readonly [state: string]: readonly [symbol: string, colour: Colour] } = {
  running: ['●', 'green'],
  paused: ['‖', 'yellow'],
  stopping: ['◌', 'yellow'],
};

/** Long lines are cut, not wrapped. A kind without a component is shown if work stops without it. */
export function componentsLines(all: ComponentsJson, options: ComponentsOptions): readonly string[] {
  const paint = painter(options.colour);
  const each = Object.values(all).flat();
  const rows = new Map(
    each.map(component => [component, cellsOf(component, versionsIn(each), paint, options)]),
  );
  const widths = columnWidths([...rows.values()]);
  const kinds = Object.entries(all).filter(([kind, found]) => found.length > 0 || MISSED[kind] !== undefined);
  return [
    headLine(each, paint, options),
    '',
    ...kinds.flatMap(([kind, found]) => [
      paint(kind, 'bold', 'cyan'),
      ...found.flatMap(component => [
        rowText(rows.get(component) ?? [], widths),
        ...wallLines(component, paint),
      ]),
      ...(found.length > 0 ? [] : [paint(`  ! none: ${MISSED[kind]}`, 'yellow')]),
    ]),
  ].map(line => cutTo(line, options.width));
}

function headLine(each: readonly ComponentJson[], paint: Paint, { root, width }: ComponentsOptions): string {
  const hosts = [...new Set(each.map(({ hostname }) => printable(hostname)))].sort();
  const count = `${each.length} ${each.length === 1 ? 'component' : 'components'}`;
  const text = each.length === 0 ? 'no components' : `${paint(count, 'bold')} on ${hosts.join(', ')}`;
  const room = width - root.length - 1;
  return widthOf(text) > room ? text : `${padded(text, room)} ${paint(root, 'dim')}`;
}

function versionsIn(each: readonly ComponentJson[]): ReadonlySet<string> {
  return new Set(each.map(({ version }) => version));
}

function cellsOf(
  { hostname, state, version, gatehouse }: ComponentJson,
  versions: ReadonlySet<string>,
  paint: Paint,
  { now }: ComponentsOptions,
): readonly string[] {
  const [symbol, colour] = STYLES[state] ?? ['?', 'yellow'];
  const asked = gatehouse.wanted !== null && gatehouse.wanted !== state ? ` → ${gatehouse.wanted}` : '';
  const trouble = gatehouse.trouble === null ? '' : ` (${printable(gatehouse.trouble)})`;
  const up = durationText(Math.max(0, now - gatehouse.started_at));
  return [
    `${paint(symbol, colour)} ${gatehouse.id}`,
    `${paint(state, ...(state === 'running' ? [] : [colour]))}${paint(asked, 'dim')}${paint(trouble, 'red')}`,
    paint(`up ${up}`, 'dim'),
    printable(hostname),
    paint(`pid ${gatehouse.pid}`, 'dim'),
    ...(versions.size > 1 ? [version] : []),
    paint(
      [...gatehouse.labels, ...zoneOf(gatehouse), ...ansibleOf(gatehouse)].map(printable).join(' '),
      'dim',
    ),
  ];
}

/** Likewise. */
function zoneOf({ zone = null }: ComponentJson['gatehouse']): readonly string[] {
  return zone === null ? [] : [`zone ${zone}`];
}

/** Absent in answers of a web of 0.3. */
function ansibleOf({ ansible_versions: versions = [] }: ComponentJson['gatehouse']): readonly string[] {
  return versions.length === 0 ? [] : [`Ansible ${versions.join(', ')}`];
}

function wallLines({ gatehouse: { walls = [] } }: ComponentJson, paint: Paint): readonly string[] {
  const missing = walls.filter(({ state }) => state === 'missing');
  const off = walls.filter(({ state }) => state === 'off').map(({ name }) => name);
  return [
    ...missing.map(wall => paint(`      ! ${printable(wallText(wall))}`, 'yellow')),
    ...(off.length === 0
      ? []
      : [paint(`      disabled in its settings: ${off.map(printable).join(', ')}`, 'dim')]),
  ];
}

function columnWidths(rows: readonly (readonly string[])[]): readonly number[] {
  const columns = Math.max(0, ...rows.map(row => row.length));
  return Array.from({ length: columns }, (_, at) => Math.max(...rows.map(row => widthOf(row[at] ?? ''))));
}

function rowText(cells: readonly string[], widths: readonly number[]): string {
  return `  ${cells.map((cell, at) => padded(cell, widths[at] ?? 0)).join('   ')}`.trimEnd();
}
