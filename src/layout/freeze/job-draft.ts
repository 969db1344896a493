/**
 * A job while its definitions are applied to each other, the base job first.
 *
 *     pre-run   parent's, then child's
 *     run       child's, where it has one
 *     post-run  child's, then parent's; each definition's cleanup-run after its post-run
 *     roles     each definition's, before those that were there; playbooks keep what they had
 *     vars      merged, nested mappings too (extra-vars, host-vars and group-vars likewise); required-projects, tags, provides, requires, include-vars, failure-output and semaphores: union; allowed-projects: intersection; everything else: the
 *               last one written
 */
import type { ConfigError } from '../../model/config-error.ts';
import type { JobRole } from '../../model/job.ts';
import { type JobName, type ProjectKey, projectIdOf } from '../../model/project.ts';
import type { JobSemaphore } from '../../model/semaphore.ts';
import { errorAt, placeText } from '../model/config-place.ts';
import type { Layout, LayoutFile } from '../model/layout.ts';
import { joinedSemaphores } from '../stanzas/parse-semaphore.ts';
import type { JobAttributes, JobStanza, NodesetReference, PlaybookEntry } from '../stanzas/stanzas.ts';
import type { ProjectResolver } from '../tenant/resolve-project.ts';
import { type DraftPlaybook, rolesOf, withRoles } from './job-roles.ts';
import { exposes, givenSecrets, passed } from './job-secrets.ts';
import { type JoinedAttributes, joinedAttributes } from './joined-attributes.ts';

/** Attributes whose last definition wins. */
type Overridden = Pick<
  JobAttributes,
  | 'description'
  | 'timeout'
  | 'preTimeout'
  | 'postTimeout'
  | 'attempts'
  | 'voting'
  | 'holdFollowingChanges'
  | 'nodeset'
  | 'matchOnConfigUpdates'
  | 'overrideCheckout'
  | 'successMessage'
  | 'failureMessage'
  | 'network'
  | 'trace'
  | 'deduplicate'
  | 'workspaceScheme'
  | 'workspaceCheckout'
  | 'ansibleVersion'
>;

/** The values after the definitions applied so far; `frozenJob` adds defaults for those that none sets. */
export interface JobDraft extends JoinedAttributes {
  readonly name: JobName;
  readonly settings: Overridden;
  readonly preRun: readonly DraftPlaybook[];
  readonly run: readonly DraftPlaybook[];
  readonly postRun: readonly DraftPlaybook[];
  /** Those that playbooks of the next definition get. */
  readonly roles: readonly JobRole[];
  /** The file that defines `dependencies`. */
  readonly dependenciesFile: LayoutFile | undefined;
  /** The only projects that may list it; undefined: any. */
  readonly allowedProjects: readonly ProjectKey[] | undefined;
  readonly semaphores: readonly JobSemaphore[];
  readonly nodeset: NodesetReference | undefined;
  readonly abstract: boolean;
  /** Only abstract jobs may inherit from it. */
  readonly intermediate: boolean;
  readonly postReview: boolean;
  /** Place of the definition that sets it. */
  readonly final: string | undefined;
  /** Attributes, by their names in the file, that may not be set any more, each with the place of the first definition that says so. */
  readonly finalAttributes: readonly { readonly key: string; readonly place: string }[];
  /** The one project whose definitions may inherit from it or change what is executed; undefined: any. */
  readonly protectedBy: ProjectKey | undefined;
  /** Places of the definitions and overrides, in the order applied. */
  readonly definedAt: readonly string[];
}

/** `error`: the stanza changes or inherits what a `final`, `protected` or `post-review` applied before it forbids. */
export type AppliedStanza =
  | { readonly kind: 'draft'; readonly draft: JobDraft }
  | { readonly kind: 'error'; readonly error: ConfigError };

/** The draft before any definition, and all there is of the built-in job `noop`. */
export function emptyDraft(name: JobName): JobDraft {
  return {
    name,
    settings: {},
    preRun: [],
    run: [],
    postRun: [],
    roles: [],
    dependencies: [],
    dependenciesFile: undefined,
    files: [],
    irrelevantFiles: [],
    includeVars: [],
    vars: {},
    extraVars: {},
    hostVars: {},
    groupVars: {},
    requiredProjects: [],
    allowedProjects: undefined,
    tags: [],
    provides: [],
    requires: [],
    failureOutput: [],
    semaphores: [],
    nodeset: undefined,
    abstract: false,
    intermediate: false,
    postReview: false,
    final: undefined,
    finalAttributes: [],
    protectedBy: undefined,
    definedAt: [],
  };
}

/**
 * @param stanza a definition of the job or of one of its parents, or a project's override of the job.
 * @param listing it is such an override.
 */
export function applyStanza(
  before: JobDraft,
  stanza: JobStanza,
  file: LayoutFile,
  layout: Pick<Layout, 'resolveProject' | 'secrets'>,
  listing = false,
): AppliedStanza {
  const error = forbidden(before, stanza, file);
  if (error !== undefined) return { kind: 'error', error };
  const { attributes } = stanza;
  const resolve = layout.resolveProject;
  const given = givenSecrets(attributes, file, layout);
  const inherits = before.name !== stanza.name;
  const roles = withRoles(before.roles, attributes, file, listing, resolve);
  const playbooks = (
    entries: readonly PlaybookEntry[] | undefined,
    isCleanupRun = false,
  ): readonly DraftPlaybook[] =>
    (entries ?? []).map(({ path, cleanup, semaphores }) => ({
      ...{ project: file.project, branch: file.branch, path, trusted: file.trusted, ...levelAfter(before) },
      ...(semaphores === undefined ? {} : { semaphores }),
      ...(given.own.length === 0 ? {} : { secrets: given.own }),
      ...(isCleanupRun
        ? { cleanup: 'unjudged' as const }
        : cleanup === true
          ? { cleanup: 'judged' as const }
          : {}),
      roles: rolesOf(path, roles),
    }));
  const pass = passed(given.passed);
  const draft: JobDraft = {
    name: stanza.name,
    settings: { ...before.settings, ...overridden(attributes) },
    preRun: [...pass(before.preRun), ...playbooks(attributes.preRun)],
    run: attributes.run === undefined ? pass(before.run) : playbooks(attributes.run),
    postRun: [
      ...playbooks(attributes.postRun),
      ...playbooks(attributes.cleanupRun, true),
      ...pass(before.postRun),
    ],
    roles,
    ...joinedAttributes(before, attributes, file, resolve),
    dependenciesFile: attributes.dependencies === undefined ? before.dependenciesFile : file,
    allowedProjects: given.restricts
      ? intersected(before.allowedProjects, [file.project])
      : stillAllowed(before.allowedProjects, attributes, resolve),
    semaphores: joinedSemaphores([...before.semaphores, ...(attributes.semaphores ?? [])]),
    nodeset: attributes.nodeset ?? before.nodeset,
    // These two are not inherited; within a job, one variant sets them for all.
    abstract: (inherits ? false : before.abstract) || attributes.abstract === true,
    intermediate: (inherits ? false : before.intermediate) || attributes.intermediate === true,
    postReview:
      before.postReview || attributes.postReview === true || given.restricts || exposes(before, given),
    final: before.final ?? (attributes.final === true ? placeText(file, stanza.offset) : undefined),
    finalAttributes: [
      ...before.finalAttributes,
      ...(attributes.finalAttributes ?? []).map(key => ({ key, place: placeText(file, stanza.offset) })),
    ],
    protectedBy: before.protectedBy ?? (attributes.protected === true ? file.project : undefined),
    definedAt: [...before.definedAt, placeText(file, stanza.offset)],
  };
  return { kind: 'draft', draft };
}

/** Of the playbooks that the next definition names. */
function levelAfter({ definedAt }: JobDraft): Pick<DraftPlaybook, 'level'> {
  return definedAt.length === 0 ? {} : { level: definedAt.length };
}

/** Attributes that change what is executed, by their names in the file. A final job refuses them. */
const EXECUTION_KEYS = [
  'run',
  'pre-run',
  'post-run',
  'cleanup-run',
  'roles',
  'failure-output',
  'timeout',
  'pre-timeout',
  'post-timeout',
  'attempts',
  'vars',
  'extra-vars',
  'host-vars',
  'group-vars',
  'include-vars',
  'required-projects',
  'allowed-projects',
  'nodeset',
  'override-checkout',
  'override-branch',
  'workspace-scheme',
  'workspace-checkout',
  'ansible-version',
  'semaphore',
  'semaphores',
  'network',
];

function forbidden(before: JobDraft, stanza: JobStanza, file: LayoutFile): ConfigError | undefined {
  if (before.definedAt.length === 0) return undefined;
  const inherits = before.name !== stanza.name;
  const changed = EXECUTION_KEYS.find(key => stanza.offsets.has(key));
  const at = (changed === undefined ? undefined : stanza.offsets.get(changed)) ?? stanza.offset;
  if (before.final !== undefined && (inherits || changed !== undefined)) {
    const text = inherits
      ? `job ${before.name} is final (${before.final}), so job ${stanza.name} cannot inherit from it; choose another parent`
      : `job ${stanza.name} is final (${before.final}), so "${changed}" cannot be set here; remove it`;
    return errorAt(file, at, 'final-job', text);
  }
  if (inherits && before.intermediate && stanza.attributes.abstract !== true) {
    return errorAt(file, stanza.offset, 'intermediate-job', onlyAbstract(stanza.name, before.name));
  }
  if (before.postReview && stanza.attributes.postReview === false) {
    const text = notUndone(stanza.name, 'a definition that applies before it');
    return errorAt(file, stanza.offsets.get('post-review') ?? stanza.offset, 'post-review-job', text);
  }
  return finalAttribute(before, stanza, file) ?? foreignChange(before, stanza, file, changed);
}

function finalAttribute(before: JobDraft, stanza: JobStanza, file: LayoutFile): ConfigError | undefined {
  const controlled = before.finalAttributes.find(({ key }) => stanza.offsets.has(key));
  if (controlled === undefined) return undefined;
  const { key, place } = controlled;
  const text = `"${key}" of job ${before.name} is final (attribute-control at ${place}), so it cannot be set here; remove it`;
  return errorAt(file, stanza.offsets.get(key) ?? stanza.offset, 'final-attribute', text);
}

/** @param changed an attribute that changes what is executed. */
function foreignChange(
  before: JobDraft,
  stanza: JobStanza,
  file: LayoutFile,
  changed: string | undefined,
): ConfigError | undefined {
  const inherits = before.name !== stanza.name;
  const foreign = before.protectedBy !== undefined && before.protectedBy !== file.project;
  if (foreign && (inherits || changed !== undefined)) {
    const owner = projectIdOf(before.protectedBy).name;
    const text = inherits
      ? `job ${before.name} is protected, only jobs of project ${owner} can inherit from it; choose another parent for ${stanza.name}`
      : `job ${stanza.name} is protected, only project ${owner} can set "${changed}"; remove it`;
    const at = (changed === undefined ? undefined : stanza.offsets.get(changed)) ?? stanza.offset;
    return errorAt(file, at, 'protected-job', text);
  }
  return undefined;
}

/** @param parent an intermediate job. */
export function onlyAbstract(name: JobName, parent: JobName): string {
  return `job ${parent} is intermediate, so that only abstract jobs inherit from it; make job ${name} abstract, or choose another parent`;
}

/** @param owner what sets `post-review`, with its place where that is known. */
export function notUndone(name: JobName, owner: string): string {
  return `job ${name} cannot undo "post-review" of ${owner}; remove "post-review: false"`;
}

function overridden(attributes: JobAttributes): Overridden {
  const keys = [
    'description',
    'timeout',
    'preTimeout',
    'postTimeout',
    'attempts',
    'voting',
    'holdFollowingChanges',
    'matchOnConfigUpdates',
    'overrideCheckout',
    'successMessage',
    'failureMessage',
    'network',
    'trace',
    'deduplicate',
    'workspaceScheme',
    'workspaceCheckout',
    'ansibleVersion',
  ] as const satisfies readonly (keyof Overridden)[];
  return Object.fromEntries(
    keys.flatMap(key => (attributes[key] === undefined ? [] : [[key, attributes[key]]])),
  );
}

/** An empty list allows all, as in Zuul. */
function stillAllowed(
  before: readonly ProjectKey[] | undefined,
  { allowedProjects = [] }: JobAttributes,
  resolve: ProjectResolver,
): readonly ProjectKey[] | undefined {
  if (allowedProjects.length === 0) return before;
  const named = allowedProjects.flatMap(({ name }) => {
    const resolved = resolve(name);
    return resolved.kind === 'unknown' ? [] : [resolved.project];
  });
  return intersected(before, named);
}

function intersected(
  before: readonly ProjectKey[] | undefined,
  named: readonly ProjectKey[],
): readonly ProjectKey[] {
  return before === undefined ? named : before.filter(project => named.includes(project));
}
