import { mappingReader } from './mapping-reader.ts';
import type { ParseContext } from './parse-context.ts';
import type { QueueStanza } from './stanzas.ts';
import type { YamlMapping } from './yaml-node.ts';

/** @returns undefined without a name; the stanza is then broken. */
export function parseQueue(
  value: YamlMapping,
  offset: number,
  context: ParseContext,
): QueueStanza | undefined {
  const read = mappingReader(value, 'queue', context);
  const name = read.required('name');
  const perBranch = read.boolean('per-branch') ?? false;
  const allowsCycles = read.boolean('allow-circular-dependencies') ?? false;
  read.unsupported(['dependencies-by-topic']);
  read.finish();
  return name === undefined ? undefined : { kind: 'queue', offset, name, perBranch, allowsCycles };
}
