/**
 * Reads an INI text as Python's configparser reads zuul.conf, with the line of every value.
 *
 *     # a comment, only at the start of a line
 *     [connection gerrit.example.org]      ; dots do not nest, the name is kept whole
 *     driver = gerrit                      <- no comment here: configparser has none after a value
 *     password: se;cret#x                  `=` and `:` both separate
 *     sshkey = /etc/gatehouse/
 *       id_ed25519                         deeper indentation continues the value (joined by a newline)
 *
 * Differences, all of them refusals instead of guesses: text after a section header, a byte that is not UTF-8, NUL.
 * Option names are lower-cased, section names are not. Nothing is substituted here, see `interpolate.ts`.
 */
import type { OptionProblem } from '../lib/option-reader.ts';
import { decodeLines } from './decode-lines.ts';

interface IniOption {
  /** Without surrounding white space; continuation lines joined by a newline. */
  readonly raw: string;
  readonly line: number;
}

export interface IniSection {
  readonly name: string;
  readonly line: number;
  /** By lower-case name, in the order of the file. */
  readonly options: ReadonlyMap<string, IniOption>;
}

export interface IniFile {
  readonly sections: ReadonlyMap<string, IniSection>;
  readonly problems: readonly OptionProblem[];
}

/** @param file the name to show in problems. */
export function parseIni(content: Uint8Array, file: string): IniFile {
  const sections = new Map<string, OpenSection>();
  const problems: OptionProblem[] = [];
  let section: OpenSection | undefined;
  let option: OpenOption | undefined;

  for (const [index, decoded] of decodeLines(content).entries()) {
    const line = index + 1;
    const complain = (reason: string, of: { readonly section?: string; readonly option?: string } = {}) => {
      problems.push({ at: { file, line }, section: '', reason, ...of });
    };
    if (decoded.kind === 'bad') {
      complain(decoded.reason);
      continue;
    }
    const text = decoded.text.trim();
    if (text === '') {
      option?.lines.push('');
      continue;
    }
    if (text.startsWith('#') || text.startsWith(';')) continue;
    const indent = decoded.text.search(/\S/);
    if (option !== undefined && indent > option.indent) {
      option.lines.push(text);
      continue;
    }

    option = undefined;
    if (text.startsWith('[')) {
      const name = parseHeader(text);
      if (name === undefined) {
        complain(`"${text}" is not a section header such as [web]`);
        continue;
      }
      section = { name, line, options: new Map() };
      const first = sections.get(name);
      if (first === undefined) sections.set(name, section);
      else complain(`section is there twice, first at line ${first.line}`, { section: name });
      continue;
    }

    const assignment = parseAssignment(text);
    if (assignment === undefined) {
      complain(`"${text}" is neither an option (name = value) nor a section`);
    } else if (section === undefined) {
      complain('stands before the first section; write [section] above it', { option: assignment.name });
    } else {
      option = { lines: [assignment.value], line, indent };
      const first = section.options.get(assignment.name);
      if (first === undefined) section.options.set(assignment.name, option);
      else
        complain(`is set twice, first at line ${first.line}`, {
          section: section.name,
          option: assignment.name,
        });
    }
  }

  return { sections: new Map([...sections].map(([name, open]) => [name, closeSection(open)])), problems };
}

interface OpenOption {
  readonly lines: string[];
  readonly line: number;
  readonly indent: number;
}

interface OpenSection {
  readonly name: string;
  readonly line: number;
  readonly options: Map<string, OpenOption>;
}

function parseHeader(trimmed: string): string | undefined {
  return /^\[([^\]]+)\]\s*([#;].*)?$/.exec(trimmed)?.[1]?.trim() || undefined;
}

function parseAssignment(trimmed: string): { readonly name: string; readonly value: string } | undefined {
  const delimiter = trimmed.search(/[=:]/);
  const name = trimmed.slice(0, Math.max(0, delimiter)).trim().toLowerCase();
  return name === '' ? undefined : { name, value: trimmed.slice(delimiter + 1).trim() };
}

function closeSection({ name, line, options }: OpenSection): IniSection {
  const closed = [...options].map(([option, open]): [string, IniOption] => [
    option,
    { raw: open.lines.join('\n').trimEnd(), line: open.line },
  ]);
  return { name, line, options: new Map(closed) };
}
