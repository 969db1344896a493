/** `job:` stanzas, and the same attributes where a project lists a job with overrides. */
import { type MappingReader, mappingReader, type PlacedName } from '../reading/mapping-reader.ts';
import type { ParseContext } from '../reading/parse-context.ts';
import { readPatterns } from '../reading/read-patterns.ts';
import type { YamlMapping, YamlNode } from '../yaml/yaml-node.ts';
import { parseAttributeControl, parseControls } from './parse-attribute-control.ts';
import { parseIncludeVars } from './parse-include-vars.ts';
import { parseNodesetReference } from './parse-nodeset.ts';
import { parseCleanupRun, parsePlaybooks } from './parse-playbooks.ts';
import { parseRoles } from './parse-roles.ts';
import { parseSecretUses } from './parse-secret.ts';
import { parseJobSemaphores, semaphoreOfBothText, semaphoresOfBoth } from './parse-semaphore.ts';
import { parseNamedVars, parseVars } from './parse-vars.ts';
import type { DependencyEntry, JobAttributes, JobStanza, RequiredProjectEntry } from './stanzas.ts';

/** Attributes of Zuul's jobs that do nothing, with the reason. */
const WITHOUT_EFFECT = {
  'failure-url': 'reports link to the page of the build',
  'image-build-name': 'nothing here starts nodes, so no image is used or uploaded',
  'success-url': 'reports link to the page of the build',
  'variant-description': 'no page shows it',
};

/** @param override the name, where a project's job list gives it outside the mapping. */
export function parseJob(
  value: YamlMapping,
  offset: number,
  context: ParseContext,
  override?: string,
): JobStanza | undefined {
  const nameNode = value.entries.get('name')?.value;
  const name = override ?? (nameNode?.kind === 'scalar' ? nameNode.text : '');
  const read = mappingReader(value, `job ${name}`.trim(), context);
  if (override === undefined) read.required('name');
  const parent = override === undefined ? parseParent(read) : undefined;
  const branches = read.matchers('branches');
  const attributes = parseAttributes(read, `job ${name}`, context);
  if (attributes.intermediate === true && attributes.abstract !== true) {
    const text = `job ${name} is intermediate, which only an abstract job can be; add "abstract: true"`;
    read.refuse(read.offsetOf('intermediate'), 'invalid-value', text);
  }
  refuseSharedSemaphores(read, name, attributes);
  warnOfJoinedStreams(read, context);
  read.withoutEffect(WITHOUT_EFFECT);
  read.finish();
  if (name === '') return undefined;
  const offsets = new Map([...value.entries].map(([key, { keyOffset }]) => [key, keyOffset]));
  return { kind: 'job', offset, name, parent, branches, attributes, offsets };
}

/** A job named in a project's list without overrides. */
export function plainJob({ name, offset }: PlacedName): JobStanza {
  return {
    kind: 'job',
    offset,
    name,
    parent: undefined,
    branches: undefined,
    attributes: {},
    offsets: new Map(),
  };
}

function parseParent(read: MappingReader): PlacedName | null | undefined {
  const node = read.node('parent');
  if (node === undefined) return undefined;
  if (node.kind === 'scalar' && node.value === null) return null;
  const name = read.string('parent');
  return name === undefined ? undefined : { name, offset: node.offset };
}

function parseAttributes(read: MappingReader, subject: string, context: ParseContext): JobAttributes {
  return {
    description: read.string('description'),
    run: parsePlaybooks(read, 'run', subject, context),
    preRun: parsePlaybooks(read, 'pre-run', subject, context),
    postRun: parsePlaybooks(read, 'post-run', subject, context),
    cleanupRun: parseCleanupRun(read, subject, context),
    timeout: read.integer('timeout', { min: 1 }),
    preTimeout: read.integer('pre-timeout', { min: 1 }),
    postTimeout: read.integer('post-timeout', { min: 1 }),
    attempts: read.integer('attempts', { min: 1, max: 100 }),
    voting: read.boolean('voting'),
    dependencies: parseDependencies(read, subject, context),
    files: read.matchers('files'),
    irrelevantFiles: read.matchers('irrelevant-files'),
    vars: parseVars(read, context),
    extraVars: parseVars(read, context, 'extra-vars'),
    includeVars: parseIncludeVars(read, subject, context),
    hostVars: parseNamedVars(read, 'host-vars', subject, context),
    groupVars: parseNamedVars(read, 'group-vars', subject, context),
    requiredProjects: parseRequiredProjects(read, subject, context),
    allowedProjects: read.names('allowed-projects'),
    final: read.boolean('final'),
    abstract: read.boolean('abstract'),
    intermediate: read.boolean('intermediate'),
    protected: read.boolean('protected'),
    postReview: read.boolean('post-review'),
    holdFollowingChanges: read.boolean('hold-following-changes'),
    nodeset: parseNodesetReference(read, subject, context),
    matchOnConfigUpdates: read.boolean('match-on-config-updates'),
    overrideCheckout: parseOverrideCheckout(read, context),
    successMessage: read.string('success-message'),
    failureMessage: read.string('failure-message'),
    tags: read.names('tags')?.map(({ name }) => name),
    provides: read.names('provides')?.map(({ name }) => name),
    requires: read.names('requires')?.map(({ name }) => name),
    secrets: parseSecretUses(read, subject, context),
    network: read.boolean('network'),
    trace: read.oneOf('trace', ['own', 'auto']),
    deduplicate: parseBooleanOrAuto(read, 'deduplicate'),
    semaphores: parseJobSemaphores(read, subject, context),
    roles: parseRoles(read, subject, context),
    failureOutput: parseFailureOutput(read, subject, context),
    controls: parseControls(read, context),
    finalAttributes: parseAttributeControl(read, subject, context),
    ansibleVersion: read.string('ansible-version'),
    workspaceScheme: read.oneOf('workspace-scheme', ['golang', 'flat', 'unique']),
    workspaceCheckout: parseBooleanOrAuto(read, 'workspace-checkout'),
  };
}

/** Each is tried on each line that a job prints. */
const MOST_EXPRESSIONS = 20;

function parseFailureOutput(
  read: MappingReader,
  subject: string,
  context: ParseContext,
): JobAttributes['failureOutput'] {
  if (read.node('failure-output') === undefined) return undefined;
  const patterns = readPatterns(read, 'failure-output', context).map(({ name }) => name);
  if (patterns.length <= MOST_EXPRESSIONS) return patterns;
  const text = `failure-output of ${subject} has more than ${MOST_EXPRESSIONS} regular expressions; join some with |`;
  read.refuse(read.offsetOf('failure-output'), 'out-of-range', text);
  return undefined;
}

/** `override-branch` is its older name. */
function parseOverrideCheckout(read: MappingReader, context: ParseContext): string | undefined {
  const older = read.string('override-branch');
  if (older !== undefined) {
    const text = '"override-branch" is an old name; write "override-checkout"';
    context.problem({
      offset: read.offsetOf('override-branch'),
      code: 'deprecated',
      text,
      severity: 'warning',
    });
  }
  return read.string('override-checkout') ?? older;
}

function parseBooleanOrAuto(
  read: MappingReader,
  key: 'deduplicate' | 'workspace-checkout',
): boolean | 'auto' | undefined {
  const node = read.node(key);
  if (node?.kind === 'scalar' && typeof node.value === 'boolean') return node.value;
  const choice = read.oneOf(key, ['auto', 'true', 'false']);
  return choice === undefined || choice === 'auto' ? choice : choice === 'true';
}

/** Zuul's own modules can join the two outputs of a command; those of Ansible, which run here, never do. */
function warnOfJoinedStreams(read: MappingReader, context: ParseContext): void {
  if (read.boolean('ansible-split-streams') !== false) return;
  const text = '"ansible-split-streams: false" has no effect: commands keep their two outputs apart, always';
  const offset = read.offsetOf('ansible-split-streams');
  context.problem({ offset, code: 'no-effect', text, severity: 'warning' });
}

/** Its build would wait for what it holds itself. */
function refuseSharedSemaphores(read: MappingReader, name: string, attributes: JobAttributes): void {
  const { semaphores = [], preRun = [], run = [], postRun = [], cleanupRun = [] } = attributes;
  const shared = semaphoresOfBoth(semaphores, [...preRun, ...run, ...postRun, ...cleanupRun]);
  if (shared.length > 0)
    read.refuse(read.offsetOf('semaphores'), 'semaphore-of-both', semaphoreOfBothText(name, shared));
}

function parseDependencies(
  read: MappingReader,
  subject: string,
  context: ParseContext,
): readonly DependencyEntry[] | undefined {
  return read.list('dependencies')?.flatMap(node => {
    if (node.kind !== 'mapping')
      return nameOf(node, `dependencies of ${subject}`, context).map(name => ({ ...name, soft: false }));
    const entry = mappingReader(node, `a dependency of ${subject}`, context);
    const name = entry.required('name');
    const soft = entry.boolean('soft') ?? false;
    entry.finish();
    return name === undefined ? [] : [{ name, soft, offset: node.offset }];
  });
}

function parseRequiredProjects(
  read: MappingReader,
  subject: string,
  context: ParseContext,
): readonly RequiredProjectEntry[] | undefined {
  return read.list('required-projects')?.flatMap((node): readonly RequiredProjectEntry[] => {
    if (node.kind !== 'mapping') return nameOf(node, `required-projects of ${subject}`, context);
    const entry = mappingReader(node, `a required project of ${subject}`, context);
    const name = entry.required('name');
    const overrideCheckout = parseOverrideCheckout(entry, context);
    entry.finish();
    if (name === undefined) return [];
    return [{ name, offset: node.offset, ...(overrideCheckout === undefined ? {} : { overrideCheckout }) }];
  });
}

function nameOf(node: YamlNode, subject: string, context: ParseContext): readonly PlacedName[] {
  if (node.kind === 'scalar' && node.value !== null && node.text !== '')
    return [{ name: node.text, offset: node.offset }];
  context.problem({
    offset: node.offset,
    code: 'wrong-type',
    text: `${subject} must be names or mappings with a name`,
  });
  return [];
}
