/** Describes one job or project of a layout as it is configured, for people and Zuul's clients. */
import type {
  DescribedThing,
  JobSummary,
  JobVariantDescription,
  LayoutDescription,
  NodesetDescription,
  PlaybookDescription,
  ProjectConfigDescription,
  VarsFileDescription,
} from '../model/layout-description.ts';
import { type ProjectKey, projectIdOf } from '../model/project.ts';
import type { JobVariant, Layout, LayoutFile, ProjectConfig, ProjectVariant } from './model/layout.ts';
import type { Matcher } from './reading/matcher.ts';
import type {
  IncludeVarsEntry,
  JobAttributes,
  JobStanza,
  NodesetReference,
  PlaybookEntry,
} from './stanzas/stanzas.ts';

/** Takes time in proportion to the stanzas that concern the thing. */
export function describeLayout(layout: Layout, thing: DescribedThing): LayoutDescription {
  if (thing.kind === 'jobs')
    return { kind: 'jobs', jobs: [...layout.jobs].map(([name, variants]) => summaryOf(name, variants)) };
  if (thing.kind === 'job') {
    const variants = layout.jobs.get(thing.name);
    return variants === undefined
      ? { kind: 'absent' }
      : { kind: 'job', variants: variants.map(variant => variantDescription(variant, layout)) };
  }
  const config = layout.projects.get(thing.project);
  if (config === undefined) return { kind: 'absent' };
  const { queue, mergeMode, defaultBranch } = config;
  return {
    kind: 'project',
    project: { queue, mergeMode, defaultBranch, configs: configsOf(config, layout) },
  };
}

function summaryOf(name: string, variants: readonly JobVariant[]): JobSummary {
  const described = variants.find(({ stanza }) => stanza.attributes.description !== undefined);
  return {
    name,
    description: described?.stanza.attributes.description?.split('\n')[0],
    tags: [...new Set(variants.flatMap(({ stanza }) => stanza.attributes.tags ?? []))],
    variants: variants.map(({ parent, branches }) => ({ parent, branches: texts(branches) })),
  };
}

function configsOf({ variants }: ProjectConfig, layout: Layout): readonly ProjectConfigDescription[] {
  return variants.flatMap(variant => {
    const { stanza } = variant;
    const templates = stanza.kind === 'project' ? stanza.templates : [];
    return [variant, ...templates.flatMap(({ name }) => layout.templates.get(name) ?? [])].map(each =>
      configDescription(each, layout),
    );
  });
}

function configDescription({ stanza, file }: ProjectVariant, layout: Layout): ProjectConfigDescription {
  const isTemplate = stanza.kind === 'project-template';
  return {
    place: placeOf(file),
    isTemplate,
    templates: isTemplate ? [] : stanza.templates.map(({ name }) => name),
    queue: stanza.queue?.name,
    mergeMode: isTemplate ? undefined : stanza.mergeMode,
    defaultBranch: isTemplate ? undefined : stanza.defaultBranch,
    pipelines: stanza.pipelines.map(({ pipeline, jobs }) => ({
      name: pipeline.name,
      jobs: jobs.map(job => stanzaDescription(job, job.parent?.name ?? null, file, layout)),
    })),
  };
}

function variantDescription({ stanza, parent, file }: JobVariant, layout: Layout): JobVariantDescription {
  return stanzaDescription(stanza, parent, file, layout);
}

function stanzaDescription(
  { name, branches, attributes }: JobStanza,
  parent: string | null,
  file: LayoutFile,
  layout: Layout,
): JobVariantDescription {
  const { abstract, final, intermediate, voting, postReview } = attributes;
  const playbooks = (all: readonly PlaybookEntry[] | undefined) => playbooksOf(all, attributes);
  const includeVars = (attributes.includeVars ?? []).map(each => varsFileOf(each, file, layout));
  return {
    name,
    parent,
    place: placeOf(file),
    branches: texts(branches),
    files: texts(attributes.files),
    irrelevantFiles: texts(attributes.irrelevantFiles),
    description: attributes.description,
    flags: { abstract, final, protected: attributes.protected, intermediate, voting, postReview },
    timeout: attributes.timeout,
    attempts: attributes.attempts,
    overrideCheckout: attributes.overrideCheckout,
    dependencies: (attributes.dependencies ?? []).map(each => ({ name: each.name, soft: each.soft })),
    requiredProjects: (attributes.requiredProjects ?? []).map(({ offset: _, ...each }) => each),
    semaphores: attributes.semaphores ?? [],
    tags: attributes.tags ?? [],
    provides: attributes.provides ?? [],
    requires: attributes.requires ?? [],
    preRun: playbooks(attributes.preRun),
    run: playbooks(attributes.run),
    postRun: playbooks(attributes.postRun),
    cleanupRun: playbooks(attributes.cleanupRun),
    roles: (attributes.roles ?? []).map(each => ({
      name: each.role,
      canonicalName: canonicalName(each.name, layout),
    })),
    nodeset: attributes.nodeset === undefined ? undefined : nodesetOf(attributes.nodeset, layout),
    vars: attributes.vars ?? {},
    extraVars: attributes.extraVars ?? {},
    hostVars: attributes.hostVars ?? {},
    groupVars: attributes.groupVars ?? {},
    includeVars,
    failureOutput: attributes.failureOutput ?? [],
    matchOnConfigUpdates: attributes.matchOnConfigUpdates,
    deduplicate: attributes.deduplicate,
    ansibleVersion: attributes.ansibleVersion,
    workspaceScheme: attributes.workspaceScheme,
    workspaceCheckout: attributes.workspaceCheckout,
  };
}

function playbooksOf(
  all: readonly PlaybookEntry[] = [],
  { secrets: given = [] }: JobAttributes,
): readonly PlaybookDescription[] {
  const secrets = given.map(({ name, alias }) => ({ name, alias }));
  return all.map(({ path, cleanup = false, semaphores = [] }) => ({ path, cleanup, semaphores, secrets }));
}

function varsFileOf(
  { path, of, required, useRef }: IncludeVarsEntry,
  file: LayoutFile,
  layout: Layout,
): VarsFileDescription {
  const own = of === 'file' ? canonicalOf(file.project, layout) : null;
  return { path, required, useRef, project: typeof of === 'string' ? own : canonicalName(of.name, layout) };
}

/** As it is written, where the tenant has no such project. */
function canonicalName(name: string, layout: Layout): string {
  const resolved = layout.resolveProject(name);
  return resolved.kind === 'project' ? canonicalOf(resolved.project, layout) : name;
}

function canonicalOf(project: ProjectKey, { tenant: { hosts = {} } }: Layout): string {
  const { connection, name } = projectIdOf(project);
  return `${hosts[connection] ?? connection}/${name}`;
}

/** A name that is not defined has no nodes. Alternatives of alternatives are not there. */
function nodesetOf(nodeset: NodesetReference, layout: Layout): NodesetDescription {
  const name = nodeset.kind === 'inline' ? '' : nodeset.name;
  const content = nodeset.kind === 'inline' ? nodeset : layout.nodesets.get(nodeset.name);
  const { nodes = [], groups = [], alternatives = [] } = content ?? {};
  return { name, nodes, groups, alternatives: alternatives.map(each => nodesetOf(each, layout)) };
}

function placeOf({ project, branch, path }: LayoutFile): JobVariantDescription['place'] {
  return { project, branch, path };
}

function texts(matchers: readonly Matcher[] | undefined): readonly string[] {
  return (matchers ?? []).map(({ regex, negate }) => `${negate ? 'not ' : ''}${regex.source}`);
}
