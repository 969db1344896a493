/** One listed job → whether it runs for this change and why, with all its variants and overrides applied. */
import { isAnsiblePlaybook } from '../../model/ansible-playbook.ts';
import type { ConfigError } from '../../model/config-error.ts';
import type { FrozenJob, Variables } from '../../model/job.ts';
import { mergeVars } from '../../model/merge-vars.ts';
import { type JobName, type ProjectKey, projectIdOf } from '../../model/project.ts';
import { sharedPlace, workspacePlace } from '../../model/workspace-place.ts';
import { errorAt } from '../model/config-place.ts';
import type { FreezeRequest } from '../model/freeze-request.ts';
import type { Layout } from '../model/layout.ts';
import { NOOP_JOB } from '../model/noop-job.ts';
import { shortList } from '../model/short-list.ts';
import { matcherText } from '../reading/matcher.ts';
import { semaphoreOfBothText, semaphoresOfBoth } from '../stanzas/parse-semaphore.ts';
import {
  branchMatches,
  type CollectedVariants,
  changedRefText,
  collectVariants,
} from './collect-variants.ts';
import type { FileJudge } from './file-verdict.ts';
import { frozenNodeset, nodesetText } from './flatten-nodeset.ts';
import { applyStanza, emptyDraft, type JobDraft } from './job-draft.ts';
import { frozenPhases } from './job-roles.ts';
import type { JobListing } from './project-jobs.ts';
import { projectJobs } from './project-jobs.ts';

/**
 * `because` is a clause for the verdict; empty with `runs`: no matcher limits the job. `listing` is the first that applies, for
 * the place of errors.
 */
export type JobOutcome =
  | {
      readonly kind: 'runs';
      readonly draft: JobDraft;
      readonly listing: JobListing;
      readonly because: string;
    }
  | { readonly kind: 'does-not-run'; readonly because: string }
  | { readonly kind: 'error'; readonly error: ConfigError };

/**
 * @param listings every place that lists the job for this project and pipeline; each is an override applied after the variants.
 * @param judgeFiles one for all jobs of the change.
 */
export function freezeJob(
  request: FreezeRequest,
  name: JobName,
  listings: readonly JobListing[],
  judgeFiles: FileJudge,
): JobOutcome {
  const drafted = draftJob(request, name, listings);
  if (drafted.kind !== 'draft') return drafted;
  const { draft, listing } = drafted;
  const files = judgeFiles(draft.files, draft.irrelevantFiles);
  let because = files.because;
  if (!files.matches) {
    const why =
      draft.settings.matchOnConfigUpdates === false ? undefined : definitionChange(request, name, draft);
    if (why === undefined) return { kind: 'does-not-run', because };
    because = `${why}, although ${files.because}`;
  }
  const error = cannotRun(drafted, request);
  if (error !== undefined) return { kind: 'error', error };
  return {
    kind: 'runs',
    draft,
    listing,
    because: [drafted.because, because].filter(text => text !== '').join('; '),
  };
}

type Drafted =
  | {
      readonly kind: 'draft';
      readonly draft: JobDraft;
      readonly listing: JobListing;
      /** A config-project lists it: `allowed-projects` does not count. */
      readonly isGranted: boolean;
      readonly because: string;
    }
  | Exclude<JobOutcome, { kind: 'runs' }>;

/** Applies all variants and overrides that match. */
function draftJob(
  { layout, change }: FreezeRequest,
  name: JobName,
  listings: readonly JobListing[],
): Drafted {
  const counting = listings.filter(
    ({ stanza, file }) => stanza.branches === undefined || branchMatches(stanza, file, change),
  );
  const [listing] = counting;
  if (listing === undefined) {
    const wanted = listings.map(({ stanza }) => matcherText(stanza.branches ?? [])).join('; ');
    return {
      kind: 'does-not-run',
      because: `the project lists it for branches ${wanted}, not for ${changedRefText(change)}`,
    };
  }
  const builtIn = isBuiltIn(name, layout);
  const overrides = counting.map(({ stanza }) => stanza);
  const collected: CollectedVariants = builtIn
    ? { kind: 'variants', variants: [], because: 'built-in job without playbooks' }
    : collectVariants(layout, name, change, overrides);
  if (collected.kind === 'none') return { kind: 'does-not-run', because: collected.because };
  if (collected.kind === 'error') return collected;
  let draft = emptyDraft(name);
  const listed = new Set<JobListing['stanza']>(overrides);
  for (const { stanza, file } of [...collected.variants, ...counting]) {
    const applied = applyStanza(draft, stanza, file, layout, listed.has(stanza));
    if (applied.kind === 'error') return applied;
    draft = applied.draft;
  }
  if (builtIn) draft = { ...draft, preRun: [], run: [], postRun: [] };
  const isGranted = counting.some(({ file }) => file.trusted);
  return { kind: 'draft', draft, listing, isGranted, because: collected.because };
}

/** `noop`, unless the tenant defines a job of that name: overrides count, and nothing is executed. */
function isBuiltIn(name: JobName, { jobs }: Layout): boolean {
  return name === NOOP_JOB && !jobs.has(name);
}

/** Why the job counts as changed by the change under test, or undefined. */
function definitionChange(
  { before, ...request }: FreezeRequest,
  name: JobName,
  draft: JobDraft,
): string | undefined {
  if (before === undefined || before === request.layout) return undefined;
  const previous = projectJobs(before, request.pipeline, request.change);
  const listings = previous.kind === 'jobs' ? previous.jobs.get(name) : undefined;
  if (listings === undefined) return 'the change adds the job';
  const drafted = draftJob({ ...request, layout: before }, name, listings);
  const same = drafted.kind === 'draft' && contentOf(drafted.draft) === contentOf(draft);
  return same ? undefined : 'the change alters the definition of the job';
}

/** A draft as text, without the places of its definitions. */
function contentOf(draft: JobDraft): string {
  const {
    definedAt: _,
    dependenciesFile: __,
    final,
    finalAttributes,
    dependencies,
    nodeset,
    files,
    irrelevantFiles,
    ...rest
  } = draft;
  return JSON.stringify({
    ...rest,
    final: final !== undefined,
    finalAttributes: finalAttributes.map(({ key }) => key),
    dependencies: dependencies.map(({ name, soft }) => [name, soft]),
    nodeset: nodeset?.kind === 'named' ? nodeset.name : nodesetText(nodeset),
    files: matcherText(files),
    irrelevantFiles: matcherText(irrelevantFiles),
  });
}

function cannotRun(
  { draft, listing: { stanza, file }, isGranted }: Extract<Drafted, { readonly kind: 'draft' }>,
  { layout, pipeline, change }: FreezeRequest,
): ConfigError | undefined {
  const refuse = (code: string, text: string) => errorAt(file, stanza.offset, code, text);
  if (isBuiltIn(draft.name, layout)) return undefined;
  if (draft.abstract) {
    return refuse(
      'abstract-job',
      `job ${draft.name} is abstract and cannot run itself; list a job that inherits from it`,
    );
  }
  if (!isGranted && draft.allowedProjects?.includes(change.project) === false) {
    const own = projectIdOf(change.project).name;
    const allowed =
      shortList(draft.allowedProjects.map(project => projectIdOf(project).name)) || 'no project';
    const text = `project ${own} is not allowed to run job ${draft.name} (allowed-projects: ${allowed}); add it there, or let a config-project list the job for it`;
    return refuse('not-permitted', text);
  }
  if (draft.postReview && layout.pipelines.get(pipeline)?.postReview !== true) {
    const text = `job ${draft.name} runs on reviewed code only (post-review), and pipeline ${pipeline} is not post-review; list it in another pipeline`;
    return refuse('post-review', text);
  }
  if (draft.run.length === 0) {
    return refuse(
      'no-run-playbook',
      `job ${draft.name} has nothing to run: neither it nor a parent sets "run"`,
    );
  }
  const shared = semaphoresOfBoth(draft.semaphores, [...draft.preRun, ...draft.run, ...draft.postRun]);
  if (shared.length > 0) return refuse('semaphore-of-both', semaphoreOfBothText(draft.name, shared));
  const collision = collisionText(draft, change.project);
  if (collision !== undefined)
    return refuse('same-workspace-place', `job ${draft.name} cannot run: ${collision}`);
  return undefined;
}

/** @param projectVars of the stanzas that list it; the job's own win. */
export function frozenJob(
  draft: JobDraft,
  layout: Layout,
  dependencies: FrozenJob['dependencies'],
  projectVars: Variables,
  failFast: boolean,
): FrozenJob {
  const { settings, nodeset } = draft;
  return {
    name: draft.name,
    ...(settings.description === undefined ? {} : { description: settings.description }),
    ...frozenPhases(draft),
    ...timeoutsOf(settings),
    attempts: settings.attempts ?? 3,
    voting: settings.voting ?? true,
    dependencies,
    requiredProjects: draft.requiredProjects,
    ...(settings.overrideCheckout === undefined ? {} : { overrideCheckout: settings.overrideCheckout }),
    vars: mergeVars(projectVars, draft.vars),
    ...(draft.includeVars.length === 0 ? {} : { includeVars: draft.includeVars }),
    ...(isEmpty(draft.extraVars) ? {} : { extraVars: draft.extraVars }),
    ...(isEmpty(draft.hostVars) ? {} : { hostVars: draft.hostVars }),
    ...(isEmpty(draft.groupVars) ? {} : { groupVars: draft.groupVars }),
    ...frozenNodeset(nodeset, layout.nodesets),
    holdFollowingChanges: settings.holdFollowingChanges ?? false,
    failFast,
    network: settings.network ?? false,
    ...(settings.trace === 'own' ? { trace: settings.trace } : {}),
    ...(typeof settings.deduplicate === 'boolean' ? { deduplicate: settings.deduplicate } : {}),
    ...(draft.semaphores.length === 0 ? {} : { semaphores: draft.semaphores }),
    ...workspaceOf(settings),
    ...(settings.successMessage === undefined ? {} : { successMessage: settings.successMessage }),
    ...(settings.failureMessage === undefined ? {} : { failureMessage: settings.failureMessage }),
    tags: draft.tags,
    ...(draft.provides.length === 0 ? {} : { provides: draft.provides }),
    ...(draft.requires.length === 0 ? {} : { requires: draft.requires }),
    ...(draft.failureOutput.length === 0 ? {} : { failureOutput: draft.failureOutput }),
    ...ansibleOf(draft, layout.tenant),
    definedAt: draft.definedAt,
  };
}

function timeoutsOf({
  timeout,
  preTimeout,
  postTimeout,
}: JobDraft['settings']): Pick<FrozenJob, 'timeout' | 'preTimeout' | 'postTimeout'> {
  return {
    ...(timeout === undefined ? {} : { timeout }),
    ...(preTimeout === undefined ? {} : { preTimeout }),
    ...(postTimeout === undefined ? {} : { postTimeout }),
  };
}

/** Jobs whose playbooks are all programs run on any executor. */
function ansibleOf(
  { settings, preRun, run, postRun }: JobDraft,
  { ansible }: Layout['tenant'],
): Pick<FrozenJob, 'ansibleVersion'> {
  const version = ansible === undefined ? undefined : (settings.ansibleVersion ?? ansible.usual);
  const hasPlaybook = [...preRun, ...run, ...postRun].some(({ path }) => isAnsiblePlaybook(path));
  return version === undefined || !hasPlaybook ? {} : { ansibleVersion: version };
}

function workspaceOf({
  workspaceScheme,
  workspaceCheckout,
}: JobDraft['settings']): Pick<FrozenJob, 'workspaceScheme' | 'workspaceCheckout'> {
  return {
    ...(workspaceScheme === undefined || workspaceScheme === 'golang' ? {} : { workspaceScheme }),
    ...(workspaceCheckout === undefined || workspaceCheckout === true ? {} : { workspaceCheckout }),
  };
}

/** The change's own project and those that the job requires; those of changes ahead are known when it is tested. */
function collisionText({ settings, requiredProjects }: JobDraft, own: ProjectKey): string | undefined {
  const projects = [own, ...requiredProjects.map(({ project }) => project)];
  return sharedPlace(
    projects.map(project => ({
      project,
      place: workspacePlace(settings.workspaceScheme, project, project),
    })),
  );
}

function isEmpty(mapping: { readonly [name: string]: unknown }): boolean {
  return Object.keys(mapping).length === 0;
}
