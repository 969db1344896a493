import { mappingReader } from './mapping-reader.ts';
import type { ParseContext } from './parse-context.ts';
import type { PragmaStanza } from './stanzas.ts';
import type { YamlMapping } from './yaml-node.ts';

/** `pragma:` says for which branches the jobs and templates of its file count; see `branch-scope.ts`. */
export function parsePragma(value: YamlMapping, offset: number, context: ParseContext): PragmaStanza {
  const read = mappingReader(value, 'pragma', context);
  const impliedBranchMatchers = read.boolean('implied-branch-matchers');
  const impliedBranches = read.matchers('implied-branches');
  read.finish();
  return { kind: 'pragma', offset, impliedBranchMatchers, impliedBranches };
}
