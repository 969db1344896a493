/** Second pass: references of project stanzas and templates. A stanza with a bad reference is broken as a whole. */
import { didYouMean } from '../lib/nearest-name.ts';
import type { ConfigError } from '../model/config-error.ts';
import type { Tenant } from '../model/layout.ts';
import { projectIdOf } from '../model/project.ts';
import { referenceError } from './check-jobs.ts';
import type { Collected } from './collected.ts';
import { errorAt } from './config-place.ts';
import { attributeError } from './job-variant.ts';
import type { LayoutFile, ProjectVariant } from './layout.ts';
import { NOOP_JOB } from './noop-job.ts';
import { PROJECT_KEYS } from './parse-project.ts';
import type { ProjectResolver } from './resolve-project.ts';
import type { JobStanza } from './stanzas.ts';

/**
 * Marks each stanza that names an unknown template, pipeline or job, or overrides a job wrongly, and adds all errors of it.
 * Changes `collected`, which must hold all stanzas.
 */
export function checkProjects(collected: Collected, tenant: Tenant, resolve: ProjectResolver): void {
  const check = (variant: ProjectVariant): ProjectVariant => {
    if (variant.broken !== undefined) return variant;
    const errors = variantErrors(variant, collected, tenant, resolve);
    collected.errors.push(...errors);
    const [broken] = errors;
    return broken === undefined ? variant : { ...variant, broken };
  };
  for (const [name, variants] of collected.templates) collected.templates.set(name, variants.map(check));
  for (const [project, variants] of collected.projects) collected.projects.set(project, variants.map(check));
}

function variantErrors(
  { stanza, file }: ProjectVariant,
  collected: Collected,
  tenant: Tenant,
  resolve: ProjectResolver,
): readonly ConfigError[] {
  const errors: ConfigError[] = [];
  const subject =
    stanza.kind === 'project'
      ? `project ${stanza.name ?? projectIdOf(file.project).name}`
      : `${stanza.kind} ${stanza.name}`;
  for (const { name, offset } of stanza.kind === 'project' ? stanza.templates : []) {
    if (collected.templates.has(name)) continue;
    const hint = didYouMean(name, collected.templates.keys(), collected.hints);
    errors.push(errorAt(file, offset, 'unknown-template', `project-template ${name} is not defined${hint}`));
  }
  for (const { pipeline, jobs } of stanza.pipelines) {
    if (!collected.pipelineNames.has(pipeline.name)) {
      const names = [...PROJECT_KEYS, ...collected.pipelineNames.keys()];
      const pipelines = [...collected.pipelineNames.keys()].join(', ') || 'none';
      const hint = didYouMean(pipeline.name, names, collected.hints) || `; pipelines: ${pipelines}`;
      const text = `"${pipeline.name}" of ${subject} is neither an attribute nor a pipeline${hint}`;
      errors.push(errorAt(file, pipeline.offset, 'unknown-pipeline', text));
    }
    for (const job of jobs) {
      const error = listedJobError(job, file, collected, tenant, resolve);
      if (error !== undefined) errors.push(error);
    }
  }
  return errors;
}

function listedJobError(
  job: JobStanza,
  file: LayoutFile,
  collected: Collected,
  tenant: Tenant,
  resolve: ProjectResolver,
): ConfigError | undefined {
  if (!collected.jobs.has(job.name) && job.name !== NOOP_JOB) {
    const text = `Job ${job.name} not defined${didYouMean(job.name, collected.jobs.keys(), collected.hints)}`;
    return errorAt(file, job.offset, 'job-not-defined', text);
  }
  return attributeError(job, file, tenant) ?? referenceError(job, file, collected, resolve);
}
