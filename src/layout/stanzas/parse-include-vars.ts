/**
 * `include-vars` of jobs: files with variables, in repositories.
 *
 *     include-vars:
 *       - vars/common.yaml                                      of the project that defines the job
 *       - {name: vars/lib.yaml, project: acme/lib, required: false}
 *       - {name: vars/ci.yaml, zuul-project: true}              of the change's own project
 */
import { type MappingReader, mappingReader } from '../reading/mapping-reader.ts';
import type { ParseContext } from '../reading/parse-context.ts';
import type { YamlNode } from '../yaml/yaml-node.ts';
import type { IncludeVarsEntry } from './stanzas.ts';

/** Projects are looked up when the layout is built. */
export function parseIncludeVars(
  read: MappingReader,
  subject: string,
  context: ParseContext,
): readonly IncludeVarsEntry[] | undefined {
  return read.list('include-vars')?.flatMap(node => entryOf(node, `include-vars of ${subject}`, context));
}

function entryOf(node: YamlNode, subject: string, context: ParseContext): readonly IncludeVarsEntry[] {
  if (node.kind === 'scalar' && typeof node.value === 'string')
    return checked({ path: node.value, of: 'file', required: true, useRef: true }, node, subject, context);
  if (node.kind !== 'mapping') {
    const text = `${subject} must be paths, or mappings with a name`;
    context.problem({ offset: node.offset, code: 'wrong-type', text });
    return [];
  }
  const read = mappingReader(node, subject, context);
  const path = read.required('name');
  const project = read.string('project');
  const isOwn = read.boolean('zuul-project') === true;
  const required = read.boolean('required') ?? true;
  const useRef = read.boolean('use-ref') ?? true;
  read.finish();
  if (project !== undefined && isOwn) {
    const text = `${subject} has both project and zuul-project; keep one`;
    read.refuse(read.offsetOf('zuul-project'), 'wrong-type', text);
    return [];
  }
  if (path === undefined) return [];
  const named = project === undefined ? undefined : { name: project, offset: read.offsetOf('project') };
  const of = isOwn ? 'change' : (named ?? 'file');
  return checked({ path, of, required, useRef }, node, subject, context);
}

function checked(
  entry: IncludeVarsEntry,
  node: YamlNode,
  subject: string,
  context: ParseContext,
): readonly IncludeVarsEntry[] {
  const { path } = entry;
  const isPlain = path.split('/').every(part => part !== '' && part !== '.' && part !== '..');
  if (isPlain && !path.includes('\0') && !path.includes('\\')) return [entry];
  const text = `${subject} must be a path below the root of the repository, such as vars/common.yaml`;
  context.problem({ offset: node.offset, code: 'invalid-path', text });
  return [];
}
