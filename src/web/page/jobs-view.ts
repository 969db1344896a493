/** The jobs of a tenant, and one of them: how often they pass, how long they take, how flaky they are. */
import type { BuildDocument } from '../../api/build-schema.ts';
import type { JobDocument, JobsDocument } from '../../api/described.ts';
import type { JobStatisticsDocument, JobsStatisticsDocument } from '../../api/job-statistics.ts';
import { api, fetchJson, pages } from './address.ts';
import { buildTable } from './builds-view.ts';
import { element } from './dom.ts';
import { FetchedView } from './fetched-view.ts';
import { count, duration } from './format.ts';
import type { View } from './messages.ts';
import { stanzaPlaceText } from './projects-view.ts';
import { NUMBER_HEADINGS, numberCells, table } from './table.ts';

/** Builds that the page of a job lists. */
const RECENT = 20;

export function jobsView(root: Element, tenant: string): View {
  return new FetchedView<{ readonly jobs: JobsDocument; readonly statistics: JobsStatisticsDocument }>(root, {
    title: 'Jobs',
    async load() {
      const [jobs, statistics] = await Promise.all([
        fetchJson<JobsDocument>(api(tenant, 'jobs')),
        fetchJson<JobsStatisticsDocument>(api(tenant, 'jobs/statistics')),
      ]);
      return jobs && statistics && { jobs, statistics };
    },
    draw: ({ jobs, statistics }) => [
      element('h1', {}, count(jobs.length, 'job')),
      element('p', { class: 'quiet lead' }, basis(statistics)),
      table(
        'Jobs',
        ['Job', 'Description', ...NUMBER_HEADINGS],
        jobs.map(({ name, description }) => {
          const numbers = statistics.jobs.find(({ job }) => job === name);
          return [
            element('a', { 'data-route': true, href: pages.job(tenant, name) }, name),
            description,
            ...(numbers === undefined ? [] : numberCells(numbers)),
          ];
        }),
      ),
    ],
  });
}

export function jobView(root: Element, tenant: string, name: string): View {
  const path = `job/${encodeURIComponent(name)}/statistics`;
  const list = `job_name=${encodeURIComponent(name)}`;
  return new FetchedView<{
    readonly statistics: JobStatisticsDocument;
    readonly builds: readonly BuildDocument[];
    readonly variants: JobDocument;
  }>(root, {
    title: `Job ${name}`,
    missing: 'There is no such job.',
    async load() {
      const [statistics, builds = [], variants = []] = await Promise.all([
        fetchJson<JobStatisticsDocument>(api(tenant, path)),
        fetchJson<readonly BuildDocument[]>(`${api(tenant, 'builds')}?${list}&limit=${RECENT}`),
        // What has been removed has no variants.
        fetchJson<JobDocument>(api(tenant, `job/${encodeURIComponent(name)}`)),
      ]);
      return statistics && { statistics, builds, variants };
    },
    draw: ({ statistics, builds, variants }) => [
      element('h1', {}, `Job ${name}`),
      variants.map(({ description }) => description !== null && element('p', {}, description)),
      element('p', { class: 'quiet lead' }, basis(statistics)),
      table(
        'By project',
        ['Project', ...NUMBER_HEADINGS],
        [
          ...statistics.projects.map(each => [each.project, ...numberCells(each)]),
          ...(statistics.projects.length === 1 ? [] : [['all', ...numberCells(statistics.total)]]),
        ],
      ),
      element('h2', {}, 'By day'),
      table(
        'By day, in UTC',
        ['Day', ...NUMBER_HEADINGS],
        statistics.days.map(each => [each.day, ...numberCells(each)]),
      ),
      element(
        'h2',
        {},
        'Last builds ',
        element(
          'a',
          { 'data-route': true, class: 'more', href: `${pages.list(tenant, 'builds')}?${list}` },
          'all',
        ),
      ),
      builds.length === 0
        ? element('p', { class: 'quiet' }, 'It has not run yet.')
        : buildTable(tenant, builds),
      variants.length > 0 && [element('h2', {}, 'Configuration'), variantTable(tenant, variants)],
    ],
  });
}

function variantTable(tenant: string, variants: JobDocument): HTMLElement {
  return table(
    'Configuration',
    ['Written in', 'Branches', 'Inherits from', 'Sets'],
    variants.map(variant => [
      stanzaPlaceText(variant.source_context),
      variant.branches.join(', '),
      variant.parent !== null &&
        element('a', { 'data-route': true, href: pages.job(tenant, variant.parent) }, variant.parent),
      settingsOf(variant).join(' · '),
    ]),
  );
}

function settingsOf(variant: JobDocument[number]): readonly string[] {
  const listed = (text: string, names: readonly string[]) =>
    names.length === 0 ? [] : [`${text} ${names.join(', ')}`];
  return [
    ...(['abstract', 'final', 'protected'] as const).filter(flag => variant[flag] === true),
    ...(variant.voting ? [] : ['non-voting']),
    ...(variant.timeout === null ? [] : [`timeout ${duration(variant.timeout * 1000)}`]),
    ...listed(
      'runs',
      variant.run.map(({ path }) => path),
    ),
    ...listed(
      'needs',
      variant.dependencies.map(each => each.name),
    ),
    ...listed('files', variant.files),
    ...listed('not for', variant.irrelevant_files),
    ...listed(
      'on',
      (variant.nodeset?.nodes ?? []).map(({ label }) => label),
    ),
  ];
}

function basis({ counted, whole }: Pick<JobStatisticsDocument, 'counted' | 'whole'>): string {
  const builds = whole ? `all ${count(counted, 'finished build')}` : `the newest ${counted} finished builds`;
  return `From ${builds}. Flaky: it failed, and passed another time with the same state of the change.`;
}
