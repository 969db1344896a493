/** Describes one job or project of a layout as it is configured, for people and Zuul's clients. */
import type {
  DescribedThing,
  JobVariantDescription,
  LayoutDescription,
  ProjectConfigDescription,
} from '../model/layout-description.ts';
import type { JobVariant, Layout, LayoutFile, ProjectConfig, ProjectVariant } from './model/layout.ts';
import type { Matcher } from './reading/matcher.ts';
import type { JobStanza, NodesetReference } from './stanzas/stanzas.ts';

/** Takes time in proportion to the stanzas that concern the thing. */
export function describeLayout(layout: Layout, thing: DescribedThing): LayoutDescription {
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
    requiredProjects: (attributes.requiredProjects ?? []).map(each => each.name),
    semaphores: (attributes.semaphores ?? []).map(each => each.name),
    tags: attributes.tags ?? [],
    provides: attributes.provides ?? [],
    requires: attributes.requires ?? [],
    preRun: (attributes.preRun ?? []).map(({ path }) => path),
    run: (attributes.run ?? []).map(({ path }) => path),
    postRun: (attributes.postRun ?? []).map(({ path }) => path),
    nodeset: nodesetOf(attributes.nodeset, layout),
    vars: attributes.vars ?? {},
  };
}

/** Alternatives show their name only, because their nodes are those of other nodesets. */
function nodesetOf(nodeset: NodesetReference | undefined, layout: Layout): JobVariantDescription['nodeset'] {
  if (nodeset === undefined) return undefined;
  if (nodeset.kind === 'inline') return { name: '', nodes: nodeset.nodes };
  return { name: nodeset.name, nodes: layout.nodesets.get(nodeset.name)?.nodes ?? [] };
}

function placeOf({ project, branch, path }: LayoutFile): JobVariantDescription['place'] {
  return { project, branch, path };
}

function texts(matchers: readonly Matcher[] | undefined): readonly string[] {
  return (matchers ?? []).map(({ regex, negate }) => `${negate ? 'not ' : ''}${regex.source}`);
}
