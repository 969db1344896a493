/**
 * The stanzas of a configuration file, before its project is known: parsing is a function of the text alone and cached by
 * the hash of the text (`parse-cache.ts`). Everything that depends on the tenant, on other files or on drivers is checked
 * when the layout is built.
 *
 * `offset`s point into the file's text; `ParsedFile.positionOf` turns them into lines.
 */
import type { Regex } from '../../lib/regex.ts';
import type { NodeGroup, NodeRequirement, SecretData, Variables } from '../../model/job.ts';
import type { MergeMode } from '../../model/merge-mode.ts';
import type { ManagerName, Pipeline, Precedence, ReportAction, WindowPolicy } from '../../model/pipeline.ts';
import type { JobSemaphore } from '../../model/semaphore.ts';
import type { WorkspaceScheme } from '../../model/workspace-place.ts';
import type { PlacedName } from '../reading/mapping-reader.ts';
import type { Matcher } from '../reading/matcher.ts';
import type { LineColumn, YamlProblem } from '../yaml/yaml.ts';
import type { YamlNode } from '../yaml/yaml-node.ts';

/** Kinds of stanzas we read. */
export const STANZA_KINDS = [
  'pipeline',
  'job',
  'project',
  'project-template',
  'queue',
  'nodeset',
  'secret',
  'semaphore',
  'pragma',
] as const;
/** The one key of a stanza: `job` of `- job:`. */
export type StanzaKind = (typeof STANZA_KINDS)[number];

/** Kinds that say where nodes come from: nothing here starts any, so they are taken with a warning. */
export const PROVIDER_KINDS = ['image', 'flavor', 'label', 'section', 'provider'] as const;

/** What follows from a text alone: files of the same text share it, so it names neither project nor branch. */
export interface ParsedFile {
  readonly stanzas: readonly ParsedStanza[];
  /** Problems outside any stanza, and warnings; those that break a stanza are on the stanza. */
  readonly problems: readonly YamlProblem[];
  positionOf(offset: number): LineColumn;
}

/** Nothing of it is known: its one problem is that it is no list of stanzas. */
export function isUnreadableFile({ stanzas, problems }: ParsedFile): boolean {
  return stanzas.length === 0 && problems.some(({ severity }) => severity !== 'warning');
}

/** One for each stanza of a file; with a mistake in it, `broken` in place of its kind. */
export type ParsedStanza =
  | PipelineStanza
  | JobStanza
  | ProjectStanza
  | TemplateStanza
  | QueueStanza
  | NodesetStanza
  | SecretStanza
  | SemaphoreStanza
  | PragmaStanza
  | ProviderStanza
  | BrokenStanza;

interface CommonStanza {
  readonly offset: number;
  readonly name: string;
}

/** A stanza with mistakes. It keeps its place in the layout and reports its errors there. */
export interface BrokenStanza {
  readonly kind: 'broken';
  /** `unknown`: no kind at all. */
  readonly of: StanzaKind | 'unknown';
  readonly offset: number;
  readonly name: string | undefined;
  /** Of a job whose own `branches` could be read: where the broken variant would have applied. */
  readonly branches?: readonly Matcher[];
  readonly problems: readonly [YamlProblem, ...YamlProblem[]];
}

/** One entry of `trigger`, `require`, `reject` or a reporter, for the connection's driver to read. */
export interface DriverEntry {
  readonly connection: PlacedName;
  readonly value: YamlNode;
}

/** Defaults are applied. Entries for connections are as written: drivers read them when the layout is built. */
export interface PipelineStanza extends CommonStanza {
  readonly kind: 'pipeline';
  readonly manager: ManagerName;
  readonly description?: string;
  readonly precedence: Precedence;
  readonly postReview: boolean;
  readonly triggers: readonly DriverEntry[];
  readonly require: readonly DriverEntry[];
  readonly reject: readonly DriverEntry[];
  readonly reporters: { readonly [action in ReportAction]?: readonly DriverEntry[] };
  readonly messages: Pipeline['messages'];
  readonly window: WindowPolicy;
  readonly supercedes: readonly PlacedName[];
  readonly dequeueOnNewPatchset: boolean;
  readonly allowOtherConnections: boolean;
  readonly ignoresDependencies?: true;
  readonly reuseResults?: true;
  readonly landsOneByOne?: true;
  readonly disableAfterConsecutiveFailures?: number;
}

/** The name is checked when jobs are frozen: it must be listed and run for the change, unless `soft`. */
export interface DependencyEntry extends PlacedName {
  readonly soft: boolean;
}

/** A secret that a job uses. The name is checked when the layout is built. */
export interface SecretEntry extends PlacedName {
  /** Name of the variable. */
  readonly alias: string;
  /** `pass-to-parent`: playbooks of the parents get it as well. */
  readonly passToParent: boolean;
}

/** The name is checked when the layout is built. */
export interface RequiredProjectEntry extends PlacedName {
  /** Branch or tag to check out instead of the change's branch. */
  readonly overrideCheckout?: string;
}

/**
 * `named`: a nodeset stanza of the tenant, read when jobs are frozen; an unknown name already breaks the job when the layout is
 * built.
 */
export type NodesetReference =
  | ({ readonly kind: 'named' } & PlacedName)
  | ({ readonly kind: 'inline' } & NodesetContent);

/** Either nodes and groups, or alternatives. */
export interface NodesetContent {
  readonly nodes: readonly NodeRequirement[];
  readonly groups: readonly NodeGroup[];
  /** In the order in which they are tried; undefined: not written. */
  readonly alternatives: readonly NodesetReference[] | undefined;
}

/** A playbook as a job names it. */
export interface PlaybookEntry {
  /** Below the root of the repository. */
  readonly path: string;
  /** Of post-run: it runs also when the build is cancelled. */
  readonly cleanup?: true;
  /** Names of semaphores that are held while it runs. Absent: none. */
  readonly semaphores?: readonly string[];
}

/** A project with Ansible roles. The project is checked when the layout is built. */
export interface RoleEntry extends PlacedName {
  /** Of the role, where the repository is one role itself. */
  readonly role: string;
}

/** A file with variables. */
export interface IncludeVarsEntry {
  readonly path: string;
  /** The project it is in: the one that defines the job, that of the change, or a named one. */
  readonly of: 'file' | 'change' | PlacedName;
  readonly required: boolean;
  /** Where the change is a tag or another ref that is no branch: its commit, and not that of a branch. */
  readonly useRef: boolean;
}

/** By the name of an attribute in the file: `override` puts its value in place of what was there, `inherit` adds it. */
export interface AttributeControls {
  readonly [key: string]: 'override' | 'inherit';
}

/** Attributes of a job or of a project's override of it; undefined: not written, inherited. */
export interface JobAttributes {
  readonly description?: string | undefined;
  readonly run?: readonly PlaybookEntry[] | undefined;
  readonly preRun?: readonly PlaybookEntry[] | undefined;
  readonly postRun?: readonly PlaybookEntry[] | undefined;
  readonly cleanupRun?: readonly PlaybookEntry[] | undefined;
  readonly timeout?: number | undefined;
  readonly preTimeout?: number | undefined;
  readonly postTimeout?: number | undefined;
  readonly attempts?: number | undefined;
  readonly voting?: boolean | undefined;
  readonly dependencies?: readonly DependencyEntry[] | undefined;
  readonly files?: readonly Matcher[] | undefined;
  readonly irrelevantFiles?: readonly Matcher[] | undefined;
  readonly vars?: Variables | undefined;
  readonly extraVars?: Variables | undefined;
  readonly hostVars?: { readonly [node: string]: Variables } | undefined;
  readonly groupVars?: { readonly [group: string]: Variables } | undefined;
  readonly requiredProjects?: readonly RequiredProjectEntry[] | undefined;
  /** Names; checked when the layout is built. */
  readonly allowedProjects?: readonly PlacedName[] | undefined;
  readonly final?: boolean | undefined;
  readonly abstract?: boolean | undefined;
  /** Only with `abstract`. */
  readonly intermediate?: boolean | undefined;
  readonly protected?: boolean | undefined;
  readonly postReview?: boolean | undefined;
  readonly holdFollowingChanges?: boolean | undefined;
  readonly nodeset?: NodesetReference | undefined;
  readonly matchOnConfigUpdates?: boolean | undefined;
  readonly overrideCheckout?: string | undefined;
  readonly successMessage?: string | undefined;
  readonly failureMessage?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly provides?: readonly string[] | undefined;
  readonly requires?: readonly string[] | undefined;
  readonly includeVars?: readonly IncludeVarsEntry[] | undefined;
  readonly secrets?: readonly SecretEntry[] | undefined;
  readonly network?: boolean | undefined;
  /** `auto`: by the time it is expected to take. */
  readonly trace?: 'own' | 'auto' | undefined;
  readonly deduplicate?: boolean | 'auto' | undefined;
  readonly semaphores?: readonly JobSemaphore[] | undefined;
  readonly roles?: readonly RoleEntry[] | undefined;
  /** Expressions of RE2. */
  readonly failureOutput?: readonly string[] | undefined;
  /** Of attributes whose value is not joined with what was there in the usual way. */
  readonly controls?: AttributeControls | undefined;
  /** Names of attributes, as in the file, that `attribute-control` makes final. */
  readonly finalAttributes?: readonly string[] | undefined;
  readonly ansibleVersion?: string | undefined;
  readonly workspaceScheme?: WorkspaceScheme | undefined;
  /** `auto`: where the job has no nodes. */
  readonly workspaceCheckout?: boolean | 'auto' | undefined;
}

/** A job definition, or a project's override of one. */
export interface JobStanza extends CommonStanza {
  readonly kind: 'job';
  /** Undefined: not written; null: a base job. */
  readonly parent: PlacedName | null | undefined;
  /** Undefined: not written. */
  readonly branches: readonly Matcher[] | undefined;
  readonly attributes: JobAttributes;
  /** Places of the attributes, by their name in the file. */
  readonly offsets: ReadonlyMap<string, number>;
}

/** What a project or template lists below one pipeline; several of one pipeline add up. */
export interface ProjectPipelineEntry {
  readonly pipeline: PlacedName;
  /** Overrides of jobs by their names, not definitions. */
  readonly jobs: readonly JobStanza[];
  /** Absent: not written. Of several entries the first that has it counts. */
  readonly failFast?: boolean;
}

interface CommonProject extends CommonStanza {
  readonly queue: PlacedName | undefined;
  readonly vars: Variables;
  readonly pipelines: readonly ProjectPipelineEntry[];
}

/** In a config-project it may name any project; elsewhere only its own. */
export interface ProjectStanza extends Omit<CommonProject, 'name'> {
  readonly kind: 'project';
  /** Undefined: the project whose file this is. */
  readonly name: string | undefined;
  /** Of the stanza when it has no name. */
  readonly nameOffset: number;
  /** The name, when it is a regular expression. */
  readonly pattern: Regex | undefined;
  /** Undefined: not written. */
  readonly branches: readonly Matcher[] | undefined;
  readonly defaultBranch: string | undefined;
  readonly mergeMode: MergeMode | undefined;
  readonly templates: readonly PlacedName[];
}

/** Counts for projects whose stanzas name it in `templates`; several of one name add up. */
export interface TemplateStanza extends CommonProject {
  readonly kind: 'project-template';
}

/** A change queue; projects join it by name. */
export interface QueueStanza extends CommonStanza {
  readonly kind: 'queue';
  /** Each branch has a queue of its own. Default false. */
  readonly perBranch: boolean;
  /** `allow-circular-dependencies`: changes that depend on each other are one item. Default false. */
  readonly allowsCycles: boolean;
  /** `dependencies-by-topic`: open changes of one topic depend on each other. Default false; needs `allowsCycles`. */
  readonly byTopic: boolean;
}

/** Nodes that jobs refer to by the nodeset's name; names of nodes are unique. */
export interface NodesetStanza extends CommonStanza, NodesetContent {
  readonly kind: 'nodeset';
}

/** Data that is encrypted with the key of its project; jobs of the project name it in `secrets`. */
export interface SecretStanza extends CommonStanza {
  readonly kind: 'secret';
  readonly data: SecretData;
}

/** How many builds of the tenant may hold the name at a time; jobs refer to it by that. */
export interface SemaphoreStanza extends CommonStanza {
  readonly kind: 'semaphore';
  readonly max: number;
}

/** Changes how its file is read; it defines nothing. */
export interface PragmaStanza {
  readonly kind: 'pragma';
  readonly offset: number;
  /** Undefined: not written, and so below. */
  readonly impliedBranchMatchers: boolean | undefined;
  readonly impliedBranches: readonly Matcher[] | undefined;
}

/** Does nothing; its attributes are not read. */
export interface ProviderStanza {
  readonly kind: (typeof PROVIDER_KINDS)[number];
  readonly offset: number;
  readonly name: string | undefined;
}
