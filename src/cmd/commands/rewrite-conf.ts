/**
 * A zuul.conf rewritten line by line: comments and order stay; what is ignored becomes a comment with its reason, what has another name
 * goes there, and what must change keeps its line, below a comment that says why. Pure.
 */
import type { OptionProblem } from '../../lib/option-reader.ts';
import type { IniFile } from '../../settings/ini-file.ts';
import type { ZuulNote } from '../../settings/translate-zuul.ts';

/** @param problems those that keep the service from starting, with their places in `text`. */
export function rewriteConf(
  text: string,
  ini: IniFile,
  notes: readonly ZuulNote[],
  problems: readonly OptionProblem[],
): string {
  const headers = new Map([...ini.sections.values()].map(({ line, name }) => [line, name]));
  const options = new Set(
    [...ini.sections.values()].flatMap(section => [...section.options.values()].map(({ line }) => line)),
  );
  const fates = new Map(notes.map(note => [note.line, note]));
  const moved = movedLines(ini, notes);
  const out: string[] = [];
  let section: ZuulNote | undefined;
  let option: ZuulNote | undefined;
  for (const [index, content] of text.trimEnd().split(/\r?\n/).entries()) {
    const line = index + 1;
    const header = headers.get(line);
    const note = fates.get(line);
    if (header !== undefined) {
      section = note;
      option = undefined;
    } else if (options.has(line)) option = note;
    else if (!/^\s+\S/.test(content)) option = undefined;
    out.push(...remarks(note, problems, line));
    const isDropped = isComment(section) || isComment(option);
    out.push(isDropped && content.trim() !== '' && !/^\s*[#;]/.test(content) ? `#${content}` : content);
    if (header !== undefined && section === undefined) {
      out.push(...(moved.get(header) ?? []));
      moved.delete(header);
    }
  }
  for (const [name, lines] of moved) out.push('', `[${name}]`, ...lines);
  return `${out.join('\n')}\n`;
}

function isComment(note: ZuulNote | undefined): boolean {
  return note !== undefined && note.fate.kind !== 'refused';
}

function remarks(
  note: ZuulNote | undefined,
  problems: readonly OptionProblem[],
  line: number,
): readonly string[] {
  const own = problems.filter(({ at }) => at.line === line).map(({ reason }) => `# must change: ${reason}`);
  switch (note?.fate.kind) {
    case 'ignored':
      return [`# no effect: ${note.fate.why}`, ...own];
    case 'renamed':
      return [`# now [${note.fate.section}] ${note.fate.option}`, ...own];
    case 'refused':
    case undefined:
      return own;
  }
}

/** By section. */
function movedLines(ini: IniFile, notes: readonly ZuulNote[]): Map<string, string[]> {
  const moved = new Map<string, string[]>();
  for (const { section, option, fate } of notes) {
    if (fate.kind !== 'renamed' || option === undefined) continue;
    const raw = ini.sections.get(section)?.options.get(option)?.raw ?? '';
    const lines = moved.get(fate.section) ?? [];
    moved.set(fate.section, [...lines, `${fate.option} = ${raw.replaceAll('\n', '\n  ')}`]);
  }
  return moved;
}
