/** `pipeline:` stanzas. Drivers read triggers, requirements and reporters later, see `build-pipeline.ts`. */

import { parseFormat } from '../../lib/format-text.ts';
import {
  MANAGER_NAMES,
  type ManagerName,
  type Pipeline,
  REPORT_ACTIONS,
  type ReportAction,
} from '../../model/pipeline.ts';
import { HAS_FIELDS, MESSAGE_FIELDS } from '../../model/report-messages.ts';
import { type MappingReader, mappingReader } from '../reading/mapping-reader.ts';
import type { ParseContext } from '../reading/parse-context.ts';
import { describeNode, type YamlMapping } from '../yaml/yaml-node.ts';
import { parseWindow } from './parse-window.ts';
import type { DriverEntry, PipelineStanza } from './stanzas.ts';

const WHOSE_DEPENDENCIES =
  'it is for independent pipelines; a dependent one always enters them, the others never look at them';

/** Defaults are applied here. @returns undefined without a name or a valid manager; the stanza is then broken. */
export function parsePipeline(
  value: YamlMapping,
  offset: number,
  context: ParseContext,
): PipelineStanza | undefined {
  const nameNode = value.entries.get('name')?.value;
  const read = mappingReader(
    value,
    nameNode?.kind === 'scalar' ? `pipeline ${nameNode.text}` : 'pipeline',
    context,
  );
  const name = read.required('name');
  const manager = read.required('manager') === undefined ? undefined : read.oneOf('manager', MANAGER_NAMES);
  const description = read.string('description');
  const triggers = parseEntries(read, 'trigger', context, 'each');
  const window = parseWindow(read, manager ?? 'independent');
  const stanza = {
    kind: 'pipeline' as const,
    offset,
    precedence: read.oneOf('precedence', ['high', 'normal', 'low']) ?? 'normal',
    postReview: read.boolean('post-review') ?? false,
    triggers: triggers ?? [],
    require: parseEntries(read, 'require', context, 'whole') ?? [],
    reject: parseEntries(read, 'reject', context, 'whole') ?? [],
    reporters: parseReporters(read, context),
    messages: parseMessages(read),
    window,
    supercedes: read.names('supercedes') ?? [],
    dequeueOnNewPatchset: read.boolean('dequeue-on-new-patchset') ?? true,
    allowOtherConnections: read.boolean('allow-other-connections') ?? true,
    ...parseSwitches(read, manager),
    ...(description === undefined ? {} : { description }),
  };
  read.unsupported(['merge-failure'], 'use merge-conflict');
  read.unsupported(['merge-failure-message'], 'use merge-conflict-message');
  read.unsupported(['source']);
  read.withoutEffect({ 'variant-description': 'a pipeline is defined once, so nothing shows it' });
  read.finish();
  return name === undefined || manager === undefined ? undefined : { ...stanza, name, manager };
}

type Switches = Pick<
  PipelineStanza,
  'ignoresDependencies' | 'reuseResults' | 'landsOneByOne' | 'disableAfterConsecutiveFailures'
>;

/** Those that are not as usual. */
function parseSwitches(read: MappingReader, manager: ManagerName | undefined): Switches {
  const disableAfter = read.integer('disable-after-consecutive-failures', { min: 1 });
  const isIndependent = manager === undefined || manager === 'independent';
  if (!isIndependent) read.withoutEffect({ 'ignore-dependencies': WHOSE_DEPENDENCIES });
  return {
    ...(isIndependent && read.boolean('ignore-dependencies') === true ? { ignoresDependencies: true } : {}),
    ...(read.boolean('reuse-results') === true ? { reuseResults: true } : {}),
    ...(read.boolean('land-together') === false ? { landsOneByOne: true } : {}),
    ...(disableAfter === undefined ? {} : { disableAfterConsecutiveFailures: disableAfter }),
  };
}

/**
 * `<connection>: <value>` pairs.
 *
 * @param style `each`: a list below a connection is one entry per element; `whole`: the value is one entry.
 */
function parseEntries(
  read: MappingReader,
  key: string,
  context: ParseContext,
  style: 'each' | 'whole',
): readonly DriverEntry[] | undefined {
  if (!read.has(key)) {
    read.node(key);
    return undefined;
  }
  const node = read.node(key);
  if (node?.kind === 'scalar' && node.value === null) return [];
  if (node?.kind !== 'mapping') {
    const what = node === undefined ? 'nothing' : describeNode(node);
    const text = `"${key}" is ${what}; it must be a mapping of connection names`;
    context.problem({ offset: node?.offset ?? 0, code: 'wrong-type', text });
    return [];
  }
  return [...node.entries].flatMap(([name, { keyOffset, value }]) => {
    const connection = { name, offset: keyOffset };
    if (style === 'whole' || value.kind !== 'sequence') return [{ connection, value }];
    return value.elements.map(element => ({ connection, value: element }));
  });
}

function parseReporters(read: MappingReader, context: ParseContext): PipelineStanza['reporters'] {
  const reporters: { [action in ReportAction]?: readonly DriverEntry[] } = {};
  for (const action of REPORT_ACTIONS) {
    const entries = parseEntries(read, action, context, 'each');
    if (entries !== undefined) reporters[action] = entries;
  }
  return reporters;
}

/** Empty: nothing is written there. */
function parseMessages(read: MappingReader): Pipeline['messages'] {
  const messages: { [action in ReportAction | 'footer']?: string } = {};
  for (const action of [...REPORT_ACTIONS, 'footer'] as const) {
    const key = `${action}-message`;
    const node = read.node(key);
    const message = node?.kind === 'scalar' && node.value === '' ? '' : read.string(key);
    if (message === undefined) continue;
    const format = HAS_FIELDS.has(action) ? parseFormat(message, MESSAGE_FIELDS) : undefined;
    if (format?.kind === 'invalid')
      read.refuse(node?.offset ?? 0, 'invalid-message', `"${key}": ${format.reason}`);
    messages[action] = message;
  }
  return messages;
}
