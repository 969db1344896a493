/**
 * What a configuration file says, item by item, before it is known whose file it is: parsing is a function of the text
 * alone and remembered by the hash of the text (`parse-cache.ts`). Everything that depends on the tenant, on other files
 * or on drivers is checked when the layout is built.
 *
 * `offset`s point into the file's text; `ParsedFile.positionOf` turns them into lines.
 */
import type { Json } from '../model/job.ts';
import type { ManagerName, Pipeline, Precedence, ReportAction, WindowPolicy } from '../model/pipeline.ts';
import type { PlacedName } from './item-reader.ts';
import type { Matcher } from './matcher.ts';
import type { LineColumn, YamlProblem } from './yaml.ts';
import type { YamlNode } from './yaml-node.ts';

/** Kinds of items we read. */
export const ITEM_KINDS = ['pipeline', 'job', 'project', 'project-template', 'queue', 'nodeset'] as const;
export type ItemKind = (typeof ITEM_KINDS)[number];

export interface ParsedFile {
  readonly items: readonly ParsedItem[];
  /** Problems outside any item, and warnings; what breaks an item is on the item. */
  readonly problems: readonly YamlProblem[];
  positionOf(offset: number): LineColumn;
}

export type ParsedItem =
  | PipelineItem
  | JobItem
  | ProjectItem
  | TemplateItem
  | QueueItemConfig
  | NodesetItem
  | BrokenItem;

interface CommonItem {
  readonly offset: number;
  readonly name: string;
}

/** An item with mistakes: it has no effect but to say so, wherever it would have counted. */
export interface BrokenItem {
  readonly kind: 'broken';
  /** `unsupported`: a kind Zuul has and we do not; `unknown`: no kind at all. */
  readonly of: ItemKind | 'unsupported' | 'unknown';
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

export interface PipelineItem extends CommonItem {
  readonly kind: 'pipeline';
  readonly manager: ManagerName;
  readonly description?: string;
  readonly precedence: Precedence;
  readonly postReview: boolean;
  readonly triggers: readonly DriverEntry[];
  readonly require: readonly DriverEntry[];
  readonly reject: readonly DriverEntry[];
  /** Absent: not written, which lets `failure` stand in for merge-conflict and config-error. */
  readonly reporters: { readonly [action in ReportAction]?: readonly DriverEntry[] };
  readonly messages: Pipeline['messages'];
  readonly window: WindowPolicy;
  readonly supercedes: readonly PlacedName[];
  readonly dequeueOnNewPatchset: boolean;
  readonly allowOtherConnections: boolean;
  readonly disableAfterConsecutiveFailures?: number;
}

export interface DependencyEntry extends PlacedName {
  readonly soft: boolean;
}

export interface RequiredProjectEntry extends PlacedName {
  readonly overrideCheckout?: string;
}

export type NodesetReference =
  | ({ readonly kind: 'named' } & PlacedName)
  | { readonly kind: 'inline'; readonly nodes: readonly { readonly name: string; readonly label: string }[] };

/** Attributes of a job or of a project's override of it; undefined: not written, inherited. */
export interface JobAttributes {
  readonly description?: string | undefined;
  readonly run?: readonly string[] | undefined;
  readonly preRun?: readonly string[] | undefined;
  readonly postRun?: readonly string[] | undefined;
  readonly timeout?: number | undefined;
  readonly postTimeout?: number | undefined;
  readonly attempts?: number | undefined;
  readonly voting?: boolean | undefined;
  readonly dependencies?: readonly DependencyEntry[] | undefined;
  readonly files?: readonly Matcher[] | undefined;
  readonly irrelevantFiles?: readonly Matcher[] | undefined;
  readonly vars?: { readonly [name: string]: Json } | undefined;
  readonly requiredProjects?: readonly RequiredProjectEntry[] | undefined;
  readonly final?: boolean | undefined;
  readonly abstract?: boolean | undefined;
  readonly protected?: boolean | undefined;
  readonly postReview?: boolean | undefined;
  readonly holdFollowingChanges?: boolean | undefined;
  readonly nodeset?: NodesetReference | undefined;
  readonly matchOnConfigUpdates?: boolean | undefined;
  readonly overrideCheckout?: string | undefined;
  readonly successMessage?: string | undefined;
  readonly failureMessage?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly network?: boolean | undefined;
  /** `auto`: by the time it is expected to take. */
  readonly trace?: 'own' | 'auto' | undefined;
}

/** A job definition, or a project's override of one. */
export interface JobItem extends CommonItem {
  readonly kind: 'job';
  /** Undefined: not written; null: a base job. */
  readonly parent: PlacedName | null | undefined;
  /** Undefined: not written. */
  readonly branches: readonly Matcher[] | undefined;
  readonly attributes: JobAttributes;
  /** Places of the attributes, by their name in the file. */
  readonly offsets: ReadonlyMap<string, number>;
}

export interface ProjectPipelineEntry {
  readonly pipeline: PlacedName;
  readonly jobs: readonly JobItem[];
  readonly failFast?: boolean;
}

interface CommonProject extends CommonItem {
  readonly queue: PlacedName | undefined;
  readonly vars: { readonly [name: string]: Json };
  readonly pipelines: readonly ProjectPipelineEntry[];
}

export interface ProjectItem extends Omit<CommonProject, 'name'> {
  readonly kind: 'project';
  /** Undefined: the project whose file this is. */
  readonly name: string | undefined;
  readonly nameOffset: number;
  readonly defaultBranch: string | undefined;
  readonly templates: readonly PlacedName[];
}

export interface TemplateItem extends CommonProject {
  readonly kind: 'project-template';
}

export interface QueueItemConfig extends CommonItem {
  readonly kind: 'queue';
  readonly perBranch: boolean;
}

export interface NodesetItem extends CommonItem {
  readonly kind: 'nodeset';
  readonly nodes: readonly { readonly name: string; readonly label: string }[];
}
