/**
 * Second pass: references of project stanzas and templates. A stanza with a bad reference is broken as a whole; an unknown pipeline is
 * none, as a rule.
 */
import { didYouMean } from '../../lib/nearest-name.ts';
import type { ConfigError } from '../../model/config-error.ts';
import { projectIdOf } from '../../model/project.ts';
import { errorAt } from '../model/config-place.ts';
import type { LayoutFile, ProjectVariant } from '../model/layout.ts';
import { NOOP_JOB } from '../model/noop-job.ts';
import type { PlacedName } from '../reading/mapping-reader.ts';
import { PROJECT_KEYS } from '../stanzas/parse-project.ts';
import type { JobStanza } from '../stanzas/stanzas.ts';
import { referenceError, unknownDependencies } from './check-jobs.ts';
import type { CollectContext, Collected } from './collected.ts';
import { attributeError, attributeWarnings } from './job-variant.ts';
import { missingNameHint } from './missing-name.ts';

/**
 * Marks each stanza that names an unknown template or job, or overrides a job wrongly, and adds all errors of it.
 * Changes `collected`, which must hold all stanzas.
 */
export function checkProjects(collected: Collected, context: CollectContext): void {
  // One stanza may count for many projects.
  const checked = new Map<ProjectVariant, ProjectVariant>();
  const check = (variant: ProjectVariant): ProjectVariant => {
    const known = checked.get(variant);
    if (known !== undefined) return known;
    const [broken, ...others] =
      variant.broken === undefined ? variantErrors(variant, collected, context) : [];
    if (broken !== undefined) collected.errors.push(broken, ...others);
    const result = broken === undefined ? variant : { ...variant, broken };
    checked.set(variant, result);
    return result;
  };
  for (const [name, variants] of collected.templates) collected.templates.set(name, variants.map(check));
  for (const [project, variants] of collected.projects) collected.projects.set(project, variants.map(check));
}

function variantErrors(
  { stanza, file }: ProjectVariant,
  collected: Collected,
  context: CollectContext,
): readonly ConfigError[] {
  const errors: ConfigError[] = [];
  const subject =
    stanza.kind === 'project'
      ? `project ${stanza.name ?? projectIdOf(file.project).name}`
      : `${stanza.kind} ${stanza.name}`;
  for (const { name, offset } of stanza.kind === 'project' ? stanza.templates : []) {
    if (collected.templates.has(name)) continue;
    const hint = missingNameHint(name, collected.templates.keys(), collected);
    errors.push(errorAt(file, offset, 'unknown-template', `project-template ${name} is not defined${hint}`));
  }
  for (const { pipeline, jobs } of stanza.pipelines) {
    if (!collected.pipelineNames.has(pipeline.name)) {
      const unknown = unknownPipeline(pipeline, subject, file, collected);
      if (unknown.severity === 'error') errors.push(unknown);
      else collected.errors.push(unknown);
    }
    for (const job of jobs) {
      collected.errors.push(...unknownDependencies(job, file, collected));
      collected.errors.push(...attributeWarnings(job, file, context));
      const error = listedJobError(job, file, collected, context);
      if (error !== undefined) errors.push(error);
    }
  }
  return errors;
}

/**
 * A repository that several tenants share names pipelines that only some of them have, so an unknown one is a warning, as long as it
 * is not a misspelt attribute, or in the project's own files a misspelt pipeline.
 */
function unknownPipeline(
  { name, offset }: PlacedName,
  subject: string,
  file: LayoutFile,
  collected: Collected,
): ConfigError {
  const { pipelineNames, hints } = collected;
  const text = `"${name}" of ${subject} is neither an attribute nor a pipeline`;
  const attribute = didYouMean(name, PROJECT_KEYS, hints);
  if (attribute !== '') return errorAt(file, offset, 'unknown-pipeline', `${text}${attribute}`);
  const near = didYouMean(name, pipelineNames.keys(), hints);
  if (near !== '' && !file.trusted) return errorAt(file, offset, 'unknown-pipeline', `${text}${near}`);
  // Only those of config-projects define pipelines.
  const unreadable = collected.unreadable.filter(({ trusted }) => trusted);
  const hint = missingNameHint(name, pipelineNames.keys(), { hints, unreadable });
  const known = [...pipelineNames.keys()].join(', ') || 'none';
  const ignored = `${text} of this tenant, so what it lists is ignored${hint === '' ? `; pipelines: ${known}` : hint}`;
  return errorAt(file, offset, 'unknown-pipeline', ignored, 'warning');
}

function listedJobError(
  job: JobStanza,
  file: LayoutFile,
  collected: Collected,
  context: CollectContext,
): ConfigError | undefined {
  if (!collected.jobs.has(job.name) && job.name !== NOOP_JOB) {
    const text = `Job ${job.name} not defined${missingNameHint(job.name, collected.jobs.keys(), collected)}`;
    return errorAt(file, job.offset, 'job-not-defined', text);
  }
  return attributeError(job, file, context) ?? referenceError(job, file, collected, context);
}
