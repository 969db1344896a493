import { mappingReader } from '../reading/mapping-reader.ts';
import type { ParseContext } from '../reading/parse-context.ts';
import type { YamlMapping } from '../yaml/yaml-node.ts';
import type { PragmaStanza } from './stanzas.ts';

/** `pragma:` says for which branches the jobs and templates of its file count; see `branch-scope.ts`. */
export function parsePragma(value: YamlMapping, offset: number, context: ParseContext): PragmaStanza {
  const read = mappingReader(value, 'pragma', context);
  const impliedBranchMatchers = read.boolean('implied-branch-matchers');
  const impliedBranches = read.matchers('implied-branches');
  read.finish();
  return { kind: 'pragma', offset, impliedBranchMatchers, impliedBranches };
}
