/** Files of one repository → findings with their places, in the order of the files. Pure. */

import { parseFile } from '../../layout/stanzas/parse-file.ts';
import { isUnreadableFile, type ParsedStanza, PROVIDER_KINDS } from '../../layout/stanzas/stanzas.ts';
import { chooseConfigFiles } from '../../layout/tenant/config-files.ts';
import type { YamlProblem } from '../../layout/yaml/yaml.ts';
import { checkReferences } from './check-references.ts';
import type { LintFile } from './read-files.ts';

/** One mistake, or something that has no effect. Lines and columns from 1. */
export interface Finding {
  readonly path: string;
  readonly line: number;
  readonly column: number;
  readonly severity: 'error' | 'warning';
  /** For machines, as `short_error` of configuration errors. */
  readonly code: string;
  readonly text: string;
  /** The line, without its end; undefined: the file was not read. */
  readonly snippet: string | undefined;
}

/** @param files of the repository, and others that were named. */
export function lintRepository(files: readonly LintFile[]): readonly Finding[] {
  const read = files.flatMap(file => ('text' in file ? [{ ...file, parsed: parseFile(file.text) }] : []));
  const isWhole = read.length === files.length && read.every(({ parsed }) => !isUnreadableFile(parsed));
  const names = isWhole ? checkReferences(read.map(({ parsed }) => parsed)) : [];
  const texts = files.map(file => ({ path: file.path, text: 'text' in file ? file.text : '' }));
  const { ignored } = chooseConfigFiles(texts);
  const findings = files.flatMap(file => {
    const because = ignored.find(({ path }) => path === file.path)?.because;
    const other =
      because === undefined
        ? []
        : [notRead(file.path, 'ignored-file', `not read, because ${because} exists too`)];
    if ('notRead' in file)
      return [{ ...notRead(file.path, 'unreadable-file', file.notRead), severity: 'error' as const }];
    const parsed = read.find(each => each.path === file.path)?.parsed;
    if (parsed === undefined) return other;
    const lines = file.text.split(/\r\n|\n|\r/);
    const place = ({ offset, code, text, severity }: YamlProblem): Finding => {
      const { line, column } = parsed.positionOf(offset);
      const snippet = lines[line - 1];
      return { path: file.path, line, column, severity: severity ?? 'error', code, text, snippet };
    };
    const own = [
      ...parsed.problems,
      ...parsed.stanzas.flatMap(problemsOf),
      ...names
        .filter(name => name.file === parsed)
        .map(({ offset, code, text }) => ({ offset, code, text, severity: 'warning' as const })),
    ];
    return [...other, ...own.map(place).toSorted((a, b) => a.line - b.line || a.column - b.column)];
  });
  return findings;
}

function problemsOf(stanza: ParsedStanza): readonly YamlProblem[] {
  if (stanza.kind === 'broken') return stanza.problems;
  const provider = PROVIDER_KINDS.find(kind => kind === stanza.kind);
  if (provider === undefined) return [];
  const text = `"${provider}" has no effect: nothing here starts nodes, executors offer labels`;
  return [{ offset: stanza.offset, code: 'no-effect', text, severity: 'warning' }];
}

function notRead(path: string, code: string, text: string): Finding {
  return { path, line: 1, column: 1, severity: 'warning', code, text, snippet: undefined };
}
