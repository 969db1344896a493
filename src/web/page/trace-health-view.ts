/** How whole the traces are that are sent, hour by hour. */
import type { TraceHealthDocument } from '../../api/trace-health.ts';
import { api, fetchJson } from './address.ts';
import { type Child, element } from './dom.ts';
import { FetchedView } from './fetched-view.ts';
import { count, dateAndClock, duration } from './format.ts';
import type { View } from './messages.ts';
import { table } from './table.ts';

const EVERY_MS = 60_000;
const HEADS = [
  ...['Hour', 'Traces#', 'Not judged#', 'Without parent#', 'Outside parent#'],
  ...['In no state#', 'Links to nothing#'],
];

export function traceHealthView(root: Element, tenant: string): View {
  return new FetchedView<TraceHealthDocument>(root, {
    title: 'Trace health',
    load: () => fetchJson<TraceHealthDocument>(api(tenant, 'trace-health')),
    draw: ({ host, hours }) => {
      const faults = hours.reduce((sum, hour) => sum + faultsOf(hour), 0);
      return [
        element('h1', {}, headline(faults, hours.length)),
        element('p', { class: 'quiet' }, standing(host, hours.length)),
        hours.length > 0 && table('Trace health', HEADS, hours.toReversed().map(rowOf)),
      ];
    },
    everyMs: EVERY_MS,
  });
}

function headline(faults: number, hours: number): string {
  if (hours === 0) return 'Trace health';
  return faults === 0 ? 'Traces are whole' : `${count(faults, 'fault')} in traces`;
}

function standing(host: string | null, hours: number): string {
  if (host === null) return 'No process has sent spans yet: tracing is off, or has just begun.';
  const what = 'Spans are judged before they are sent: whether each has its parent and lies inside it, ';
  const rest = 'whether waits and work cover the time of each item, and whether links lead somewhere.';
  return `${what}${rest} ${hours === 0 ? 'No trace has ended yet.' : `Sent by ${host}, for all tenants.`}`;
}

function faultsOf({ orphans, outside, untiled, dangling }: TraceHealthDocument['hours'][number]): number {
  return orphans + outside + untiled + dangling;
}

function rowOf(hour: TraceHealthDocument['hours'][number]): readonly Child[] {
  const { judged, unjudged, orphans, outside, untiled, untiledMs, dangling } = hour;
  return [
    dateAndClock(hour.hour).replace(/:\d\d$/, ''),
    judged,
    unjudged === 0 ? '–' : unjudged,
    shown(orphans),
    shown(outside),
    shown(untiled, untiled === 0 ? '' : ` (${duration(untiledMs)})`),
    shown(dangling),
  ];
}

function shown(number: number, more = ''): Child {
  return number === 0 ? '–' : element('span', { class: 'warn' }, `${number}${more}`);
}
