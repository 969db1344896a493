import { mappingReader } from '../reading/mapping-reader.ts';
import type { ParseContext } from '../reading/parse-context.ts';
import type { YamlMapping } from '../yaml/yaml-node.ts';
import type { QueueStanza } from './stanzas.ts';

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
  const byTopic = read.boolean('dependencies-by-topic') ?? false;
  if (byTopic && !allowsCycles) {
    const text =
      'dependencies-by-topic makes one item of several changes, which needs allow-circular-dependencies: true';
    read.refuse(read.offsetOf('dependencies-by-topic'), 'invalid-value', text);
  }
  read.finish();
  return name === undefined ? undefined : { kind: 'queue', offset, name, perBranch, allowsCycles, byTopic };
}
