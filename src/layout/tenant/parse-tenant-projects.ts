/** `source: {<connection>: {config-projects, untrusted-projects}}` of a tenant. */

import { didYouMean } from '../../lib/nearest-name.ts';
import type { TenantProject } from '../../model/layout.ts';
import { type ConnectionName, projectKey } from '../../model/project.ts';
import { type MappingReader, mappingReader, type PlacedName } from '../reading/mapping-reader.ts';
import type { ParseContext } from '../reading/parse-context.ts';
import { readPatterns } from '../reading/read-patterns.ts';
import { PROVIDER_KINDS, STANZA_KINDS } from '../stanzas/stanzas.ts';
import { describeNode, type YamlMapping, type YamlNode } from '../yaml/yaml-node.ts';
import { refusedExtraPath } from './config-files.ts';

/** A project as the tenant file lists it, with the options of the groups around it. */
export interface TenantProjectEntry {
  readonly project: TenantProject;
  /** Of the project's name, for the error when it is listed twice. */
  readonly offset: number;
  /** Its own answers; those that are undefined are the tenant's. */
  readonly exclude: BranchExclusions;
  /** `shadow`, to be resolved when all projects of the tenant are known. */
  readonly shadows: readonly PlacedName[];
  /** `configure-projects`: regular expressions. */
  readonly configures: readonly PlacedName[];
}

/** Branches left out by what only their code host knows of them. */
export interface BranchExclusions {
  readonly unprotected: boolean | undefined;
  readonly locked: boolean | undefined;
}

/** `exclude-unprotected-branches` and `exclude-locked-branches`, of a tenant or of a project. */
export function readBranchExclusions(read: MappingReader): BranchExclusions {
  return {
    unprotected: read.boolean('exclude-unprotected-branches'),
    locked: read.boolean('exclude-locked-branches'),
  };
}

/** Kinds allowed in `include` and `exclude`. */
const KINDS: readonly string[] = [...STANZA_KINDS, ...PROVIDER_KINDS].filter(kind => kind !== 'pragma');

const NO_PROVIDERS = {
  'include-provider-config': 'there are no providers of nodes; executors offer labels',
};

/** Of Zuul's projects in a tenant, with the reason. */
const WITHOUT_EFFECT = {
  'allow-circular-dependencies': 'a queue decides that, by the attribute of this name',
  ...NO_PROVIDERS,
};
const OF_UNTRUSTED = { 'allow-reporter-jobs': 'no job is of type reporter here' };
const OF_ONE_BRANCH = {
  'include-branches': 'of a config-project one branch is read (load-branch)',
  'exclude-branches': 'of a config-project one branch is read (load-branch)',
  'always-dynamic-branches': 'of a config-project one branch is read (load-branch)',
};

/**
 * Config-projects first; groups are resolved. An entry of the wrong type is a problem and left out.
 *
 * @param subject the tenant's name in errors.
 */
export function parseTenantProjects(
  connection: ConnectionName,
  node: YamlNode,
  subject: string,
  context: ParseContext,
): readonly TenantProjectEntry[] {
  if (node.kind !== 'mapping') {
    const text = `source ${connection} of ${subject} is ${describeNode(node)}; it must be a mapping with config-projects and untrusted-projects`;
    context.problem({ offset: node.offset, code: 'wrong-type', text });
    return [];
  }
  const read = mappingReader(node, `source ${connection} of ${subject}`, context);
  const entries = [
    ...listOf(read, 'config-projects').flatMap(entry => parseEntry(entry, connection, true, [], context)),
    ...listOf(read, 'untrusted-projects').flatMap(entry => parseEntry(entry, connection, false, [], context)),
  ];
  read.finish();
  return entries;
}

function listOf(read: MappingReader, key: string): readonly YamlNode[] {
  return read.list(key) ?? [];
}

/** A name, `name: {options}`, or a group `{include, exclude, projects}`. */
function parseEntry(
  node: YamlNode,
  connection: ConnectionName,
  trusted: boolean,
  groups: readonly MappingReader[],
  context: ParseContext,
): readonly TenantProjectEntry[] {
  const make = (name: PlacedName, options: YamlMapping | undefined) => [
    parseOptions(name, options, connection, trusted, groups, context),
  ];
  if (node.kind === 'scalar' && node.value !== null && node.text !== '') {
    return make({ name: node.text, offset: node.offset }, undefined);
  }
  if (node.kind === 'mapping' && node.entries.has('projects')) {
    const group = mappingReader(node, 'a group of projects', context);
    const projects = listOf(group, 'projects');
    group.names('include');
    group.names('exclude');
    group.withoutEffect(NO_PROVIDERS);
    group.finish();
    return projects.flatMap(entry => parseEntry(entry, connection, trusted, [...groups, group], context));
  }
  const [entry, second] = node.kind === 'mapping' ? [...node.entries] : [];
  if (entry === undefined || second !== undefined) {
    const hint =
      second === undefined ? '' : `; indent "${second[0]}" further if it is an option of "${entry?.[0]}"`;
    const text = `a project must be a name or a name with options below it${hint}`;
    context.problem({ offset: second?.[1].keyOffset ?? node.offset, code: 'wrong-type', text });
    return [];
  }
  const [name, { keyOffset, value }] = entry;
  if (value.kind === 'mapping') return make({ name, offset: keyOffset }, value);
  if (value.kind === 'scalar' && value.value === null) return make({ name, offset: keyOffset }, undefined);
  context.problem({
    offset: value.offset,
    code: 'wrong-type',
    text: `options of project ${name} are ${describeNode(value)}; they must be a mapping`,
  });
  return [];
}

function parseOptions(
  { name, offset }: PlacedName,
  options: YamlMapping | undefined,
  connection: ConnectionName,
  trusted: boolean,
  groups: readonly MappingReader[],
  context: ParseContext,
): TenantProjectEntry {
  const project = projectKey({ connection, name });
  if (!/^[^\s/]+(\/[^\s/]+)*$/.test(name) || name.split('/').includes('..')) {
    context.problem({ offset, code: 'invalid-name', text: `"${name}" is not a valid project name` });
  }
  if (options === undefined) {
    const kinds = stanzaKinds(undefined, groups, context);
    const exclude = { unprotected: undefined, locked: undefined };
    const all = { includeBranches: [], excludeBranches: [] };
    return { offset, exclude, shadows: [], configures: [], project: { project, trusted, ...all, ...kinds } };
  }
  const read = mappingReader(options, `project ${name}`, context);
  const loadBranch = trusted ? read.string('load-branch') : undefined;
  if (!trusted)
    read.withoutEffect({
      'load-branch': 'of an untrusted project all branches are read; use include-branches',
    });
  if (trusted) read.withoutEffect(OF_ONE_BRANCH);
  if (!trusted) read.withoutEffect(OF_UNTRUSTED);
  const noBaseJobs = trusted && read.boolean('allow-base-jobs') === false;
  const branches = (key: string) => (trusted ? [] : readPatterns(read, key, context).map(each => each.name));
  const includeBranches = branches('include-branches');
  const excludeBranches = branches('exclude-branches');
  const alwaysDynamicBranches = branches('always-dynamic-branches');
  const kinds = stanzaKinds(read, groups, context);
  const exclude = readBranchExclusions(read);
  const shadows = read.names('shadow') ?? [];
  const impliedBranchMatchers = read.boolean('implied-branch-matchers');
  const extraConfigPaths = extraPaths(read);
  const configures = readPatterns(read, 'configure-projects', context);
  if (trusted && read.has('configure-projects')) {
    const text = `config-projects may configure every project; remove "configure-projects" of ${name}`;
    read.refuse(read.offsetOf('configure-projects'), 'not-permitted', text);
  }
  read.withoutEffect(WITHOUT_EFFECT);
  read.finish();
  return {
    offset,
    exclude,
    shadows,
    configures,
    project: {
      project,
      trusted,
      includeBranches,
      excludeBranches,
      ...(alwaysDynamicBranches.length === 0 ? {} : { alwaysDynamicBranches }),
      ...(loadBranch === undefined ? {} : { loadBranch }),
      ...(extraConfigPaths.length === 0 ? {} : { extraConfigPaths }),
      ...(impliedBranchMatchers === undefined ? {} : { impliedBranchMatchers }),
      ...(noBaseJobs ? { noBaseJobs } : {}),
      ...(configures.length === 0 ? {} : { configures: configures.map(each => each.name) }),
      ...kinds,
    },
  };
}

function extraPaths(read: MappingReader): readonly string[] {
  // A name may look like a number, a path that Zuul takes may not.
  const written = new Map(read.list('extra-config-paths')?.map(node => [node.offset, node]));
  return (read.names('extra-config-paths') ?? []).map(({ name, offset }) => {
    const node = written.get(offset);
    const isText = node?.kind === 'scalar' && typeof node.value === 'string';
    const refusal = isText ? refusedExtraPath(name) : 'is a number and has to be a path, in quotes';
    if (refusal !== undefined)
      read.refuse(
        offset,
        'invalid-path',
        `"${name}" of extra-config-paths ${refusal}; a directory ends in "/"`,
      );
    return name;
  });
}

/**
 * From the outermost group to the project: `include` replaces what those around it left, `exclude` takes away from it (Zuul's rule).
 * `pragma` is no kind that can be left out.
 */
function stanzaKinds(
  own: MappingReader | undefined,
  groups: readonly MappingReader[],
  context: ParseContext,
): { readonly itemKinds?: readonly string[] } {
  const readers = [...groups, ...(own === undefined ? [] : [own])];
  let kinds: ReadonlySet<string> | undefined;
  for (const read of readers) {
    const include = knownKinds(read, 'include', context);
    const exclude = knownKinds(read, 'exclude', context);
    if (include !== undefined) kinds = new Set(include);
    if (exclude !== undefined) kinds = (kinds ?? new Set(KINDS)).difference(new Set(exclude));
  }
  return kinds === undefined ? {} : { itemKinds: [...KINDS.filter(kind => kinds.has(kind)), 'pragma'] };
}

function knownKinds(read: MappingReader, key: string, context: ParseContext): readonly string[] | undefined {
  const names = read.names(key);
  for (const { name, offset } of names ?? []) {
    if (KINDS.includes(name)) continue;
    const text = `"${name}" is not a kind of stanza${didYouMean(name, KINDS) || `; known: ${KINDS.join(', ')}`}`;
    context.problem({ offset, code: 'unknown-stanza-kind', text });
  }
  return names?.map(({ name }) => name);
}
