/** Finished builds, and finished buildsets: newest first, filtered by the address. */
import type { BuildDocument, BuildsetDocument } from '../../api/build-schema.ts';
import type { PipelinesDocument } from '../../api/service.ts';
import { api, fetchJson, pages } from './address.ts';
import { type Child, element, externalLink } from './dom.ts';
import { FetchedView } from './fetched-view.ts';
import { clock, duration } from './format.ts';
import { type FilterField, filterForm, filterQuery, olderAndNewest, PAGE_LENGTH } from './list-filter.ts';
import type { View } from './messages.ts';
import { resultChip, table } from './table.ts';

const RESULTS = [
  'SUCCESS',
  'FAILURE',
  'TIMED_OUT',
  'POST_FAILURE',
  'RETRY',
  'RETRY_LIMIT',
  'CANCELED',
  'SKIPPED',
  'MERGE_CONFLICT',
  'DEQUEUED',
];
const CHANGE: readonly FilterField[] = [
  { name: 'project', text: 'Project' },
  { name: 'change', text: 'Change' },
];
const JOB: FilterField = { name: 'job_name', text: 'Job' };
const WORKER: FilterField = { name: 'worker', text: 'Executor' };
const RESULT: FilterField = { name: 'result', text: 'Result', values: RESULTS };

/** What both lists load. */
interface Loaded<Entry> {
  readonly entries: readonly Entry[];
  readonly pipelines: readonly string[];
}

export function buildsView(root: Element, tenant: string): View {
  return listView<BuildDocument>(root, tenant, {
    name: 'builds',
    title: 'Builds',
    fields: [JOB, ...CHANGE, WORKER],
    draw: builds => buildTable(tenant, builds),
  });
}

export function buildsetsView(root: Element, tenant: string): View {
  return listView<BuildsetDocument>(root, tenant, {
    name: 'buildsets',
    title: 'Buildsets',
    fields: CHANGE,
    draw: buildsets =>
      table(
        'Buildsets',
        ['Result', 'Change', 'Pipeline', 'Took#', 'Ended#'],
        buildsets.map(({ uuid, result, refs, pipeline, gatehouse }) => [
          element('a', { 'data-route': true, href: `${pages.list(tenant, 'buildset')}/${uuid}` }, [
            resultChip(result),
          ]),
          refs.map((ref, index) => [index > 0 && ', ', refText(ref)]),
          pipeline,
          ...times(gatehouse.created_at, gatehouse.ended_at),
        ]),
      ),
  });
}

/** Also of one job. */
export function buildTable(tenant: string, builds: readonly BuildDocument[]): HTMLElement {
  return table(
    'Builds',
    ['Result', 'Job', 'Change', 'Pipeline', 'Took#', 'Ended#'],
    builds.map(({ uuid, result, job_name, ref, pipeline, gatehouse, voting }) => [
      resultChip(result),
      [
        element('a', { 'data-route': true, href: pages.build(tenant, uuid) }, job_name),
        gatehouse.attempt > 1 && ` (attempt ${gatehouse.attempt})`,
        !voting && element('em', {}, ' non-voting'),
      ],
      refText(ref),
      pipeline,
      ...times(gatehouse.started_at, gatehouse.ended_at),
    ]),
  );
}

function listView<Entry extends { readonly _id: number | null }>(
  root: Element,
  tenant: string,
  list: {
    readonly name: 'builds' | 'buildsets';
    readonly title: string;
    readonly fields: readonly FilterField[];
    readonly draw: (entries: readonly Entry[]) => Child;
  },
): View {
  const address = pages.list(tenant, list.name);
  const fields = [...list.fields, { name: 'pipeline', text: 'Pipeline' }, RESULT];
  return new FetchedView<Loaded<Entry>>(root, {
    title: list.title,
    async load() {
      const [entries, pipelines = []] = await Promise.all([
        fetchJson<readonly Entry[]>(`${api(tenant, list.name)}?${filterQuery(fields)}`),
        fetchJson<PipelinesDocument>(api(tenant, 'pipelines')),
      ]);
      return entries && { entries, pipelines: pipelines.map(({ name }) => name) };
    },
    draw({ entries, pipelines }) {
      const shown = entries.slice(0, PAGE_LENGTH);
      const last = entries.length > PAGE_LENGTH ? shown.at(-1)?._id : undefined;
      const drawn = fields.map(field =>
        field.name === 'pipeline' ? { ...field, values: pipelines } : field,
      );
      return [
        element('h1', {}, list.title),
        filterForm(address, drawn),
        shown.length === 0
          ? element('p', { class: 'quiet' }, `No finished ${list.name} fit. What runs is on the status page.`)
          : list.draw(shown),
        olderAndNewest(address, last ?? undefined),
      ];
    },
  });
}

function refText({ project, change, patchset, ref, ref_url }: BuildDocument['ref']): Child {
  const name = change === null ? ref : `${change}${patchset === null ? '' : `,${patchset.slice(0, 8)}`}`;
  const text = `${project} ${name}`;
  return externalLink(ref_url, text) ?? text;
}

/** @param from nanoseconds as text. */
function times(from: string | null, to: string | null): readonly Child[] {
  const [begun, ended] = [from, to].map(time => (time === null ? null : Number(time.slice(0, -6))));
  return [
    begun == null || ended == null ? '–' : duration(ended - begun),
    ended == null ? '–' : element('time', { datetime: new Date(ended).toISOString() }, clock(ended)),
  ];
}
