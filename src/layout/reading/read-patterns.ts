import type { MappingReader, PlacedName } from './mapping-reader.ts';
import type { ParseContext } from './parse-context.ts';

/** Regular expressions of the tenant file, which are checked here and kept as texts: a tenant is plain data. None where the key is absent. */
export function readPatterns(
  read: MappingReader,
  key: string,
  { regexes }: ParseContext,
): readonly PlacedName[] {
  const patterns = read.names(key) ?? [];
  for (const { name, offset } of patterns) {
    const regex = regexes.compile(name);
    if (regex.kind === 'invalid') read.refuse(offset, 'invalid-regex', regex.reason);
  }
  return patterns;
}
