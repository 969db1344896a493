/** The part of a layout that a scheduler keeps, as plain data; the layout itself stays in the thread that built it. */

import type { ProposedChange } from '../model/change.ts';
import type { ConfigError } from '../model/config-error.ts';
import type { MergeMode } from '../model/merge-mode.ts';
import type { Pipeline } from '../model/pipeline.ts';
import type { BranchName, JobName, PipelineName, ProjectKey } from '../model/project.ts';
import type { PlacedSecret } from '../model/secret.ts';
import type { SemaphoreRule } from '../model/semaphore.ts';
import { boundedErrors } from './model/bounded-errors.ts';
import type { Layout, ProjectConfig } from './model/layout.ts';
import { USUAL_MAX } from './stanzas/parse-semaphore.ts';

/** Survives the transfer between threads, unlike a {@link Layout}. */
export interface LayoutFacts {
  /** In the order of the configuration. */
  readonly pipelines: ReadonlyMap<PipelineName, Pipeline>;
  readonly jobs: readonly JobName[];
  /** Every project of the tenant. */
  readonly projects: ReadonlyMap<ProjectKey, ProjectFacts>;
  /** Defined ones by name, those of the whole installation that the tenant may use among them. */
  readonly semaphores: ReadonlyMap<string, SemaphoreRule>;
  /** The first ones; `errorCount` counts all. */
  readonly errors: readonly ConfigError[];
  readonly errorCount: number;
  /** All of the tenant, for the check whether they can be decrypted. */
  readonly secrets: readonly PlacedSecret[];
}

interface ProjectFacts {
  readonly defaultBranch: BranchName;
  /** Undefined: as each change has it. */
  readonly mergeMode: MergeMode | undefined;
  /** Its change queue. */
  readonly queue:
    | {
        readonly name: string;
        readonly perBranch: boolean;
        readonly allowsCycles: boolean;
        readonly byTopic: boolean;
      }
    | undefined;
  /** Pipelines it takes part in, on any branch. */
  readonly pipelines: ReadonlySet<PipelineName>;
}

/** How a change is merged: as the configuration of its project says, or else as its host does it. */
export function mergeModeIn(
  { projects }: Pick<LayoutFacts, 'projects'>,
  { project, mergeMode }: Pick<ProposedChange, 'project' | 'mergeMode'>,
): MergeMode {
  return projects.get(project)?.mergeMode ?? mergeMode ?? 'merge';
}

/** At most 300 errors are kept; the last of them then counts the others. */
export function layoutFacts(layout: Layout): LayoutFacts {
  return {
    pipelines: layout.pipelines,
    jobs: [...layout.jobs.keys()],
    projects: new Map([...layout.projects].map(([key, config]) => [key, projectFacts(config, layout)])),
    semaphores: semaphoreRules(layout),
    errors: boundedErrors(layout.errors),
    errorCount: layout.errors.length,
    secrets: [...layout.secrets.values()],
  };
}

function semaphoreRules({ semaphores, tenant }: Layout): LayoutFacts['semaphores'] {
  const own = [...semaphores.values()].map(({ name, max }) => [name, { scope: 'tenant', max }] as const);
  const shared = Object.entries(tenant.globalSemaphores ?? {}).map(
    ([name, max]) => [name, { scope: 'global', max }] as const,
  );
  return new Map<string, SemaphoreRule>([...own, ...shared]);
}

/** As in Zuul, a name that nothing defines lets one build of the tenant hold it at a time. */
export function semaphoreIn({ semaphores }: Pick<LayoutFacts, 'semaphores'>, name: string): SemaphoreRule {
  return semaphores.get(name) ?? { scope: 'tenant', max: USUAL_MAX };
}

function projectFacts(
  { defaultBranch, mergeMode, queue, variants }: ProjectConfig,
  layout: Layout,
): ProjectFacts {
  const pipelines = new Set<PipelineName>();
  const templates = new Set<string>();
  for (const { stanza } of variants) {
    for (const entry of stanza.pipelines) pipelines.add(entry.pipeline.name);
    if (stanza.kind === 'project') for (const { name } of stanza.templates) templates.add(name);
  }
  for (const name of templates)
    for (const { stanza } of layout.templates.get(name) ?? [])
      for (const entry of stanza.pipelines) pipelines.add(entry.pipeline.name);
  return {
    defaultBranch,
    mergeMode,
    queue: queue === undefined ? undefined : queueFacts(queue, layout),
    pipelines,
  };
}

function queueFacts(name: string, { queues }: Layout): ProjectFacts['queue'] {
  const { perBranch = false, allowsCycles = false, byTopic = false } = queues.get(name) ?? {};
  return { name, perBranch, allowsCycles, byTopic };
}
