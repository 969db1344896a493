/** What pipelines want of the code hosts: the projects of each connection with the pipelines that they take part in. Pure. */
import type { PipelineUse, ProjectUse } from '../driver/online-check.ts';
import { type DriverConfig, type Pipeline, REPORT_ACTIONS } from '../model/pipeline.ts';
import { type ConnectionName, type ProjectKey, projectIdOf } from '../model/project.ts';
import type { Layout, ProjectConfig, ProjectVariant } from './model/layout.ts';

/** Of all tenants together, in their order. Projects in no pipeline are left out. */
export function projectUses(layouts: Iterable<Layout>): ReadonlyMap<ConnectionName, readonly ProjectUse[]> {
  const uses = new Map<ProjectKey, ProjectUse>();
  for (const layout of layouts) {
    for (const config of layout.projects.values()) {
      const pipelines = pipelinesOf(config, layout).map(each => pipelineUse(each, config, layout));
      if (pipelines.length === 0) continue;
      const before = uses.get(config.project);
      uses.set(config.project, {
        project: config.project,
        defaultBranches: [...new Set([...(before?.defaultBranches ?? []), config.defaultBranch])],
        pipelines: [...(before?.pipelines ?? []), ...pipelines],
      });
    }
  }
  return Map.groupBy(uses.values(), ({ project }) => projectIdOf(project).connection);
}

/** On any branch, of its own stanzas or by a template. */
function pipelinesOf({ variants }: ProjectConfig, { pipelines, templates }: Layout): readonly Pipeline[] {
  const all = variants.flatMap(variant => [variant, ...templatesOf(variant, templates)]);
  const names = new Set(all.flatMap(({ stanza }) => stanza.pipelines.map(each => each.pipeline.name)));
  return [...pipelines.values()].filter(({ name }) => names.has(name));
}

function templatesOf({ stanza }: ProjectVariant, templates: Layout['templates']): readonly ProjectVariant[] {
  return stanza.kind === 'project' ? stanza.templates.flatMap(({ name }) => templates.get(name) ?? []) : [];
}

function pipelineUse(
  { name, triggers, require, reject, reporters }: Pipeline,
  { project, mergeMode, queue }: ProjectConfig,
  { tenant, queues }: Layout,
): PipelineUse {
  const { connection } = projectIdOf(project);
  const own = (configs: readonly DriverConfig[]) =>
    configs.filter(each => each.connection === connection).map(({ config }) => config);
  return {
    tenant: tenant.name,
    pipeline: name,
    mergeMode,
    ...(queue !== undefined && queues.get(queue)?.allowsCycles === true ? { cycleQueue: queue } : {}),
    triggers: own(triggers),
    requirements: own([...require, ...reject]),
    reporters: own(REPORT_ACTIONS.flatMap(action => reporters[action])),
    success: own(reporters.success),
  };
}
