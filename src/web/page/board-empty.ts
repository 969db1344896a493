/** What the board says of pipelines that hold nothing. */
import type { LivePipeline } from '../../api/live-view.ts';
import { pages } from './address.ts';
import { type Child, element } from './dom.ts';
import { count } from './format.ts';

/** To the delays of a pipeline. */
export function delaysLink(tenant: string, { name, description }: LivePipeline, text: string): HTMLElement {
  return element(
    'a',
    {
      class: 'delays-link',
      'data-route': true,
      href: pages.pipeline(tenant, name),
      title: description,
    },
    text,
  );
}

/** Links to pipelines, with commas between. */
export function pipelineLinks(tenant: string, pipelines: readonly LivePipeline[]): readonly Child[] {
  return pipelines.flatMap((pipeline, index) => [
    index > 0 && ', ',
    delaysLink(tenant, pipeline, pipeline.name),
  ]);
}

/** @param projects of the tenant. */
export function emptyState(
  tenant: string,
  pipelines: readonly LivePipeline[],
  projects: number,
): HTMLElement {
  if (pipelines.length === 0) {
    return emptyBox(
      'No pipelines yet',
      'This tenant has no pipelines. Define one in a config-project of the tenant file and push it; see also ',
      element(
        'a',
        { 'data-route': true, href: pages.list(tenant, 'config-errors') },
        'its configuration errors',
      ),
      '.',
    );
  }
  return emptyBox(
    'All queues are empty',
    `Propose a change to one of ${count(projects, 'project')} and it appears here within a second:`,
    element('pre', {}, 'git push origin HEAD:refs/heads/for/master/my-change'),
    element('span', { class: 'quiet' }, 'Pipelines: ', pipelineLinks(tenant, pipelines), '.'),
  );
}

function emptyBox(title: string, ...children: readonly Child[]): HTMLElement {
  return element('div', { class: 'empty' }, element('h2', {}, title), element('p', {}, ...children));
}
