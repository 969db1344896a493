/** The projects of a tenant, and one of them as it is configured. */
import type { ProjectDocument } from '../../api/described.ts';
import type { ConfigErrorsDocument, ProjectsDocument } from '../../api/service.ts';
import { api, fetchJson, pages } from './address.ts';
import { type Child, element } from './dom.ts';
import { errorRow } from './errors-view.ts';
import { FetchedView } from './fetched-view.ts';
import { count } from './format.ts';
import type { View } from './messages.ts';
import { table } from './table.ts';

export function projectsView(root: Element, tenant: string): View {
  return new FetchedView<ProjectsDocument>(root, {
    title: 'Projects',
    load: () => fetchJson<ProjectsDocument>(api(tenant, 'projects')),
    draw: projects => [
      element('h1', {}, count(projects.length, 'project')),
      table(
        'Projects',
        ['Project', 'Connection', 'Type'],
        projects.map(({ name, canonical_name, connection_name, type }) => [
          element('a', { 'data-route': true, href: pages.project(tenant, canonical_name) }, name),
          connection_name,
          type,
        ]),
      ),
    ],
    concerns: changed => changed === null || changed.has('tenant'),
  });
}

/** @param name canonical, or the project's own where no other has it. */
export function projectView(root: Element, tenant: string, name: string): View {
  const path = `project/${name.split('/').map(encodeURIComponent).join('/')}`;
  return new FetchedView<{ readonly project: ProjectDocument; readonly errors: ConfigErrorsDocument }>(root, {
    title: name,
    missing: 'There is no such project.',
    async load() {
      const [project, errors = []] = await Promise.all([
        fetchJson<ProjectDocument>(api(tenant, path)),
        fetchJson<ConfigErrorsDocument>(api(tenant, 'config-errors')),
      ]);
      return project && { project, errors };
    },
    draw({ project, errors }) {
      const { merge_mode, default_branch, queue_name } = project.metadata;
      const own = errors.filter(({ source_context: { project: of } }) => of === project.name);
      const builds = `${pages.list(tenant, 'builds')}?project=${encodeURIComponent(project.name)}`;
      return [
        element('h1', {}, project.name),
        element(
          'p',
          { class: 'meta item-head' },
          `queue ${queue_name ?? 'of its own'} · merge mode ${merge_mode ?? 'as the host has it'} · default branch ${default_branch} · `,
          element('a', { 'data-route': true, href: builds }, 'its builds'),
        ),
        own.length > 0 && element('ol', { class: 'panel errors' }, own.map(errorRow)),
        element('h2', {}, 'Pipelines'),
        configTable(tenant, project),
      ];
    },
    concerns: changed => changed === null || changed.has('tenant'),
  });
}

function configTable(tenant: string, { configs }: ProjectDocument): HTMLElement {
  const job = (name: string, index: number): Child => [
    index > 0 && ', ',
    element('a', { 'data-route': true, href: pages.job(tenant, name) }, name),
  ];
  const rows = configs.flatMap(config =>
    config.pipelines.map((pipeline): readonly Child[] => [
      element('a', { 'data-route': true, href: pages.pipeline(tenant, pipeline.name) }, pipeline.name),
      pipeline.jobs.flatMap(variants => variants[0]?.name ?? []).map(job),
      [config.is_template && 'template in ', stanzaPlaceText(config.source_context)],
    ]),
  );
  return rows.length === 0
    ? element('p', { class: 'quiet' }, 'It runs no jobs.')
    : table('Pipelines', ['Pipeline', 'Jobs', 'Written in'], rows);
}

/** `acme/config @ main zuul.yaml`. */
export function stanzaPlaceText({
  project,
  branch,
  path,
}: ProjectDocument['configs'][number]['source_context']): string {
  return `${project} @ ${branch} ${path}`;
}
