/**
 * Every attribute of every stanza, for editors: `gatehouse schema` makes a JSON Schema of it (`../language-schema.ts`).
 *
 * Who adds an attribute to a parser adds a line here, and a row to `doc/reference/configuration-language.md`:
 * `test/unit/layout/attribute-table.test.ts` compares the three, and tries each type of value on the parser and on the schema.
 */
import { MERGE_MODES } from '../../model/merge-mode.ts';
import { MANAGER_NAMES, REPORT_ACTIONS } from '../../model/pipeline.ts';
import type { STANZA_KINDS } from './stanzas.ts';

/** What an attribute may hold; `language-schema.ts` has a schema for each. */
export type ValueType =
  | 'alternatives'
  | 'any'
  | 'attribute-control'
  | 'auto-or-boolean'
  | 'boolean'
  | 'count'
  | 'data'
  | 'dependencies'
  | 'driver-entries'
  | 'groups'
  | 'include-vars'
  | 'jobs'
  | 'manager'
  | 'mapping'
  | 'matchers'
  | 'merge-mode'
  | 'name'
  | 'name-or-nothing'
  | 'named-mappings'
  | 'names'
  | 'nodes'
  | 'nodeset'
  | 'playbooks'
  | 'post-playbooks'
  | 'precedence'
  | 'required-projects'
  | 'roles'
  | 'secrets'
  | 'semaphores'
  | 'step'
  | 'text'
  | 'trace'
  | 'window'
  | 'window-or-nothing'
  | 'workspace-scheme';

/** One attribute. */
export interface Attribute {
  readonly type: ValueType;
  readonly required?: true;
  /** Taken with a warning: it does nothing here. */
  readonly noEffect?: true;
}

/** By name. */
export type AttributeTable = { readonly [name: string]: Attribute };

const of = (type: ValueType): Attribute => ({ type });
const required = (type: ValueType): Attribute => ({ type, required: true });
const noEffect: Attribute = { type: 'any', noEffect: true };

/** Of a job, and of an override where a project lists one; there `name`, `parent` and `branches` have no place. */
const JOB: AttributeTable = {
  abstract: of('boolean'),
  'allowed-projects': of('names'),
  'ansible-split-streams': of('boolean'),
  'ansible-version': of('name'),
  attempts: of('count'),
  'attribute-control': of('attribute-control'),
  'cleanup-run': of('playbooks'),
  deduplicate: of('auto-or-boolean'),
  dependencies: of('dependencies'),
  description: of('text'),
  'extra-vars': of('mapping'),
  'failure-message': of('text'),
  'failure-output': of('names'),
  'failure-url': noEffect,
  files: of('matchers'),
  final: of('boolean'),
  'group-vars': of('named-mappings'),
  'hold-following-changes': of('boolean'),
  'host-vars': of('named-mappings'),
  'image-build-name': noEffect,
  'include-vars': of('include-vars'),
  intermediate: of('boolean'),
  'irrelevant-files': of('matchers'),
  'match-on-config-updates': of('boolean'),
  network: of('boolean'),
  nodeset: of('nodeset'),
  'override-branch': of('name'),
  'override-checkout': of('name'),
  'post-review': of('boolean'),
  'post-run': of('post-playbooks'),
  'post-timeout': of('count'),
  'pre-run': of('playbooks'),
  'pre-timeout': of('count'),
  protected: of('boolean'),
  provides: of('names'),
  'required-projects': of('required-projects'),
  requires: of('names'),
  roles: of('roles'),
  run: of('playbooks'),
  secrets: of('secrets'),
  semaphore: of('semaphores'),
  semaphores: of('semaphores'),
  'success-message': of('text'),
  'success-url': noEffect,
  tags: of('names'),
  timeout: of('count'),
  trace: of('trace'),
  'variant-description': noEffect,
  vars: of('mapping'),
  voting: of('boolean'),
  'workspace-checkout': of('auto-or-boolean'),
  'workspace-scheme': of('workspace-scheme'),
};

const moments = (suffix: string, type: ValueType): AttributeTable =>
  Object.fromEntries(REPORT_ACTIONS.map(action => [`${action}${suffix}`, of(type)]));

/** By kind of stanza. */
export const STANZA_ATTRIBUTES: { readonly [kind in (typeof STANZA_KINDS)[number]]: AttributeTable } = {
  job: { name: required('name'), parent: of('name-or-nothing'), branches: of('matchers'), ...JOB },
  pipeline: {
    name: required('name'),
    manager: required('manager'),
    description: of('text'),
    'variant-description': noEffect,
    precedence: of('precedence'),
    'post-review': of('boolean'),
    trigger: of('driver-entries'),
    require: of('driver-entries'),
    reject: of('driver-entries'),
    ...moments('', 'driver-entries'),
    ...moments('-message', 'text'),
    'footer-message': of('text'),
    supercedes: of('names'),
    'dequeue-on-new-patchset': of('boolean'),
    'allow-other-connections': of('boolean'),
    'ignore-dependencies': of('boolean'),
    'reuse-results': of('boolean'),
    'land-together': of('boolean'),
    'disable-after-consecutive-failures': of('count'),
    window: of('window'),
    'window-floor': of('count'),
    'window-ceiling': of('window-or-nothing'),
    'window-increase-type': of('step'),
    'window-increase-factor': of('count'),
    'window-decrease-type': of('step'),
    'window-decrease-factor': of('count'),
  },
  project: {
    name: of('name'),
    queue: of('name'),
    branches: of('matchers'),
    'default-branch': of('name'),
    'merge-mode': of('merge-mode'),
    vars: of('mapping'),
    templates: of('names'),
    description: of('text'),
  },
  'project-template': {
    name: required('name'),
    queue: of('name'),
    vars: of('mapping'),
    description: of('text'),
  },
  queue: {
    name: required('name'),
    'per-branch': of('boolean'),
    'allow-circular-dependencies': of('boolean'),
    'dependencies-by-topic': of('boolean'),
  },
  nodeset: {
    name: required('name'),
    nodes: of('nodes'),
    groups: of('groups'),
    alternatives: of('alternatives'),
  },
  secret: { name: required('name'), data: required('data') },
  semaphore: { name: required('name'), max: of('count') },
  pragma: { 'implied-branch-matchers': of('boolean'), 'implied-branches': of('matchers') },
};

/** Of a job in the list of a project. */
export const OVERRIDE_ATTRIBUTES: AttributeTable = { branches: of('matchers'), ...JOB };

/** Of a pipeline in a project or template. */
export const PROJECT_PIPELINE_ATTRIBUTES: AttributeTable = {
  jobs: of('jobs'),
  'fail-fast': of('boolean'),
  debug: of('boolean'),
};

/** The closed sets of words. */
export const WORDS = {
  manager: MANAGER_NAMES,
  'merge-mode': MERGE_MODES,
  precedence: ['high', 'normal', 'low'],
  step: ['linear', 'exponential'],
  trace: ['own', 'auto'],
  'workspace-scheme': ['golang', 'flat', 'unique'],
} as const satisfies { readonly [type in ValueType]?: readonly string[] };
