/** `project:` and `project-template:` stanzas. */

import { didYouMean } from '../../lib/nearest-name.ts';
import { isMergeMode, MERGE_MODES, type MergeMode } from '../../model/merge-mode.ts';
import { type MappingReader, mappingReader } from '../reading/mapping-reader.ts';
import type { ParseContext } from '../reading/parse-context.ts';
import { describeNode, type YamlMapping, type YamlNode } from '../yaml/yaml-node.ts';
import { parseJob, plainJob } from './parse-job.ts';
import { parseVars } from './parse-vars.ts';
import type { JobStanza, ProjectPipelineEntry, ProjectStanza, TemplateStanza } from './stanzas.ts';

/** Attributes of a project; every other key names a pipeline. */
export const PROJECT_KEYS = [
  'name',
  'queue',
  'branches',
  'default-branch',
  'merge-mode',
  'vars',
  'templates',
  'description',
];

/**
 * Without `name` it configures the project whose file it is in; a name that begins with `^` is a regular expression. Unknown merge modes
 * are refused.
 */
export function parseProject(
  value: YamlMapping,
  offset: number,
  context: ParseContext,
): ProjectStanza | undefined {
  const nameNode = value.entries.get('name')?.value;
  const subject = nameNode?.kind === 'scalar' ? `project ${nameNode.text}` : 'project';
  const read = mappingReader(value, subject, context);
  const name = read.string('name');
  const nameOffset = nameNode?.offset ?? offset;
  const pattern = name?.startsWith('^') === true ? context.regexes.compile(name) : undefined;
  if (pattern?.kind === 'invalid') read.refuse(nameOffset, 'invalid-regex', pattern.reason);
  const templates = read.names('templates') ?? [];
  const branches = read.matchers('branches');
  const defaultBranch = read.string('default-branch');
  const mergeMode = parseMergeMode(read, value.entries.get('merge-mode')?.value.offset ?? offset, context);
  read.string('description');
  return {
    kind: 'project',
    offset,
    name,
    nameOffset,
    pattern: pattern?.kind === 'regex' ? pattern : undefined,
    branches,
    defaultBranch,
    mergeMode,
    templates,
    ...parseCommon(read, value, subject, context),
  };
}

function parseMergeMode(read: MappingReader, offset: number, { hints }: ParseContext): MergeMode | undefined {
  const mode = read.string('merge-mode');
  if (mode === undefined || isMergeMode(mode)) return mode;
  const hint = didYouMean(mode, MERGE_MODES, hints);
  const text = `merge-mode ${mode} does not exist${hint}; it is one of ${MERGE_MODES.join(', ')}`;
  read.refuse(offset, 'unknown-value', text);
  return undefined;
}

/** @returns undefined without a name; the stanza is then broken. */
export function parseTemplate(
  value: YamlMapping,
  offset: number,
  context: ParseContext,
): TemplateStanza | undefined {
  const nameNode = value.entries.get('name')?.value;
  const subject = nameNode?.kind === 'scalar' ? `project-template ${nameNode.text}` : 'project-template';
  const read = mappingReader(value, subject, context);
  const name = read.required('name');
  read.string('description');
  for (const key of ['branches', 'default-branch', 'merge-mode', 'templates']) {
    const entry = value.entries.get(key);
    read.node(key);
    if (entry === undefined) continue;
    read.refuse(entry.keyOffset, 'not-permitted', `"${key}" belongs in a project, not in a project-template`);
  }
  const common = parseCommon(read, value, subject, context);
  return name === undefined ? undefined : { kind: 'project-template', offset, name, ...common };
}

function parseCommon(read: MappingReader, value: YamlMapping, subject: string, context: ParseContext) {
  const queueNode = read.node('queue');
  const queue = read.string('queue');
  const vars = parseVars(read, context) ?? {};
  const pipelines: ProjectPipelineEntry[] = [];
  // Every other key names a pipeline; whether there is one is known when the layout is built.
  for (const key of read.rest()) {
    const node = read.node(key);
    if (node?.kind !== 'mapping') {
      const what = node === undefined ? 'nothing' : describeNode(node);
      const hint =
        didYouMean(key, PROJECT_KEYS, context.hints) ||
        `; a pipeline takes a mapping with "jobs", not ${what}`;
      read.refuse(read.offsetOf(key), 'unknown-key', `"${key}" is not an attribute of ${subject}${hint}`);
    } else {
      pipelines.push(parsePipelineEntry(key, read.offsetOf(key), node, subject, context));
    }
  }
  return {
    queue: queue === undefined ? undefined : { name: queue, offset: queueNode?.offset ?? value.offset },
    vars,
    pipelines,
  };
}

function parsePipelineEntry(
  pipeline: string,
  offset: number,
  value: YamlMapping,
  subject: string,
  context: ParseContext,
): ProjectPipelineEntry {
  const read = mappingReader(value, `${pipeline} of ${subject}`, context);
  const jobs = (read.list('jobs') ?? []).flatMap(
    node => parseListedJob(node, `${pipeline} of ${subject}`, context) ?? [],
  );
  const failFast = read.boolean('fail-fast');
  read.boolean('debug');
  read.unsupported(['queue'], 'set it on the project itself');
  read.finish();
  return { pipeline: { name: pipeline, offset }, jobs, ...(failFast === undefined ? {} : { failFast }) };
}

/** `- name` or `- name: {overrides}`. */
function parseListedJob(node: YamlNode, subject: string, context: ParseContext): JobStanza | undefined {
  if (node.kind === 'scalar' && node.value !== null && node.text !== '') {
    return plainJob({ name: node.text, offset: node.offset });
  }
  const [entry, second] = node.kind === 'mapping' ? [...node.entries] : [];
  if (entry === undefined || second !== undefined) {
    const hint =
      second === undefined ? '' : `; indent "${second[0]}" further if it belongs to "${entry?.[0]}"`;
    context.problem({
      offset: second?.[1].keyOffset ?? node.offset,
      code: 'wrong-type',
      text: `a job of ${subject} must be a name or a name with overrides below it${hint}`,
    });
    return undefined;
  }
  const [name, { keyOffset, value }] = entry;
  if (value.kind === 'mapping') return parseJob(value, keyOffset, context, name);
  if (value.kind === 'scalar' && value.value === null) return plainJob({ name, offset: keyOffset });
  context.problem({
    offset: value.offset,
    code: 'wrong-type',
    text: `overrides of job ${name} must be a mapping`,
  });
  return undefined;
}
