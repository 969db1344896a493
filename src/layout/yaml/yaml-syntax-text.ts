/** A syntax error of js-yaml in words that name the cause and the fix. Its own reasons are often a consequence of the mistake. */

const BAD_ENTRY = 'bad indentation of a mapping entry';

/** What to do, by js-yaml's reason. */
const HINTS: ReadonlyMap<string, string> = new Map([
  ['deficient indentation', 'a bracket or quote above is not closed, or this line must be indented further'],
  [BAD_ENTRY, 'align it with the keys above'],
  ['bad indentation of a sequence entry', 'align it with the "- " above'],
  ['end of the stream or a document separator is expected', 'align this line with the entries above'],
]);

/**
 * @param reason js-yaml's.
 * @param line the text of the line with the error.
 * @param column of the error in it, from 0.
 */
export function yamlSyntaxText(reason: string, line: string, column: number): string {
  return causeOf(reason, line, column) ?? [reason, HINTS.get(reason)].filter(Boolean).join('; ');
}

function causeOf(reason: string, line: string, column: number): string | undefined {
  if (/^ *\t/.test(line)) return 'this line is indented with a tab; use spaces';
  if (reason !== BAD_ENTRY) return undefined;
  const at = line.charAt(column);
  if ('@`%'.includes(at) && at !== '') return `a value cannot start with ${at}; quote it`;
  const before = line.slice(0, column).trimEnd();
  if (at === ':' && before.includes(': ')) return 'a value that holds ": " must be quoted';
  const [closing] = /[\]}"']$/.exec(before) ?? [];
  return closing === undefined ? undefined : `the value ends at ${closing}; quote the whole value`;
}
