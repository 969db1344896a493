/**
 * Configuration YAML, read with places and bounds.
 *
 *     parseYaml('- job:\n    name: a\n    name: b\n')
 *       → { kind: 'document', root: …, problems: [{ offset: 25, code: 'duplicate-key',
 *           text: 'key "name" is repeated, first at line 2; remove one' }] }
 *
 * A text that cannot be parsed is `invalid`, with one place. A mistake in one value (a duplicate key, a tag) is a problem at
 * its offset: the caller drops the stanza around it and keeps the rest.
 *
 * Bounds: 1 MiB of text, 64 levels, 250 000 nodes with aliases expanded. Aliases share nodes, so a small text cannot become
 * a large value.
 */
import { parseEvents, YAMLException } from 'js-yaml';
import { type LineColumn, lineAt, positions } from './text-lines.ts';
import type { YamlNode } from './yaml-node.ts';
import { yamlSyntaxText } from './yaml-syntax-text.ts';
import { MAX_DEPTH, TreeBuilder, TreeError, type YamlProblem } from './yaml-tree.ts';

export type { LineColumn } from './text-lines.ts';
export type { YamlProblem } from './yaml-tree.ts';

const MAX_YAML_LENGTH = 1_048_576;

/** A text that could be parsed; its problems each concern one value. */
export interface YamlDocument {
  readonly kind: 'document';
  /** Undefined: the text holds nothing but comments and `---`. */
  readonly root: YamlNode | undefined;
  readonly problems: readonly YamlProblem[];
  positionOf(offset: number): LineColumn;
}

/** `invalid`: a syntax error, or a bound is exceeded; it has one place. */
export type ParsedYaml =
  | YamlDocument
  | ({ readonly kind: 'invalid'; readonly code: string; readonly text: string } & LineColumn);

/** Never throws for what the text holds. */
export function parseYaml(text: string): ParsedYaml {
  const refuse = (position: LineColumn, code: string, reason: string): ParsedYaml => ({
    kind: 'invalid',
    ...position,
    code,
    text: reason,
  });
  if (text.length > MAX_YAML_LENGTH) {
    return refuse({ line: 1, column: 1 }, 'file-too-large', 'the file is larger than 1 MiB; split it');
  }
  const positionOf = positions(text);
  try {
    const builder = new TreeBuilder(text, parseEvents(text, { maxDepth: MAX_DEPTH }), positionOf);
    const root = builder.build();
    return { kind: 'document', root, problems: builder.problems, positionOf };
  } catch (error) {
    if (error instanceof TreeError) return refuse(positionOf(error.offset), error.code, error.message);
    if (!(error instanceof YAMLException)) throw error;
    const { line, column } = error.mark ?? { line: 0, column: 0 };
    const cause = yamlSyntaxText(error.reason, lineAt(text, line), column);
    return refuse({ line: line + 1, column: column + 1 }, 'yaml-syntax', `not valid YAML: ${cause}`);
  }
}
