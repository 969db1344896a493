/**
 * Builds that wait while no host that could serve them is in service: each waits so for a limited time. Pure.
 *
 *     web1 in service ─────────────► quarantined
 *     web2 in service ──► held            │ from here on nothing can serve a build for debian
 *                                         ▼
 *     a build for debian           ├── waits ───── the limit ──┤ NODE_FAILURE
 */
import { addMilliseconds, earlierOf, laterOf, type Nanoseconds, toMilliseconds } from '../lib/clock.ts';
import { cutLine } from '../lib/cut-text.ts';
import { durationText } from '../lib/duration-text.ts';
import { type HostState, isInService, type WantedNodes } from '../model/static-host.ts';
import { canServe } from './assign-hosts.ts';
import type { HostRow } from './host-table.ts';

interface Waiting {
  readonly uuid: string;
  readonly wanted: WantedNodes;
}

/** `due`: why, one line, by the uuid of the build. `next`: milliseconds until another is; undefined: none is, as things are. */
export interface Stranded {
  readonly due: ReadonlyMap<string, string>;
  readonly next: number | undefined;
}

/** @param limit milliseconds. */
export function strandedBuilds(
  waiting: readonly Waiting[],
  rows: readonly HostRow[],
  limit: number,
  now: Nanoseconds,
): Stranded {
  const due = new Map<string, string>();
  let next: number | undefined;
  /** Thousands may want the same. */
  const known = new Map<string, Outage | undefined>();
  for (const { uuid, wanted } of waiting) {
    const key = JSON.stringify(wanted.nodes.map(({ label }) => label).toSorted());
    if (!known.has(key)) known.set(key, outageFor(wanted.nodes, rows));
    const outage = known.get(key);
    if (outage === undefined) continue;
    const end = addMilliseconds(laterOf(outage.since, wanted.requestedAt), limit);
    const left = toMilliseconds(end) - toMilliseconds(now);
    if (left <= 0)
      due.set(uuid, `no host for its nodes was in service for ${durationText(limit)}: ${outage.text}`);
    else next = Math.min(next ?? left, left);
  }
  return { due, next };
}

interface Outage {
  readonly since: Nanoseconds;
  readonly text: string;
}

/** Undefined: hosts in service can serve it, in use or not; or there are none, which is another matter. */
function outageFor(nodes: WantedNodes['nodes'], rows: readonly HostRow[]): Outage | undefined {
  const fitting = rows.filter(({ host }) => nodes.some(({ label }) => host.labels.includes(label)));
  const served = fitting.filter(({ state }) => isInService(state)).map(({ host }) => host);
  if (canServe(nodes, served)) return undefined;
  const out = fitting
    .flatMap(({ host, state = {} }) => {
      const since = sinceOf(state);
      return since === undefined ? [] : [{ host, state, since }];
    })
    .toSorted((a, b) => (BigInt(a.since) > BigInt(b.since) ? -1 : 1));
  // Back in time: the first that, with those that left service after it, would serve the build. More hosts serve no less.
  const serves = (count: number) =>
    canServe(nodes, [...served, ...out.slice(0, count).map(({ host }) => host)]);
  if (!serves(out.length)) return undefined;
  let [few, enough] = [0, out.length];
  while (enough - few > 1) {
    const middle = Math.floor((few + enough) / 2);
    if (serves(middle)) enough = middle;
    else few = middle;
  }
  const last = out[enough - 1];
  return last === undefined ? undefined : { since: last.since, text: textOf(out) };
}

/** When it left service; undefined: it is in service. */
function sinceOf({ trouble, held }: HostState): Nanoseconds | undefined {
  if (trouble === undefined || held === undefined) return (trouble ?? held)?.since;
  return earlierOf(trouble.since, held.since);
}

const MOST_NAMED = 5;
const LONGEST_REASON = 120;

function textOf(out: readonly { readonly host: HostRow['host']; readonly state: HostState }[]): string {
  const named = out.slice(0, MOST_NAMED).map(({ host, state: { held, trouble } }) => {
    const why = held === undefined ? (trouble?.reason ?? '') : `held: ${held.reason}`;
    return `${host.name}: ${cutLine(why, LONGEST_REASON)}`;
  });
  const more = out.length - MOST_NAMED;
  return [...named, ...(more > 0 ? [`${more} more`] : [])].join('; ');
}
