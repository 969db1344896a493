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
import { type DecodedLine, decodeLines } from './decode-lines.ts';

export interface IniOption {
  /** Without surrounding white space; continuation lines joined by a newline. */
  readonly raw: string;
  readonly line: number;
}

/**
 * A section as written, nothing substituted. Of two sections or options of one name the first counts, and the other is a problem.
 */
export interface IniSection {
  /** Between the brackets, without surrounding white space. */
  readonly name: string;
  /** Of the header, from 1. */
  readonly line: number;
  /** By lower-case name, in the order of the file. */
  readonly options: ReadonlyMap<string, IniOption>;
}

/** What could be read, also when there are problems: the other sections are checked as well, so that all mistakes show at once. */
export interface IniFile {
  /** By name, in the order of the file. */
  readonly sections: ReadonlyMap<string, IniSection>;
  readonly problems: readonly OptionProblem[];
}

/** @param file the name to show in problems. */
export function parseIni(content: Uint8Array, file: string): IniFile {
  const reader = new IniReader(file);
  for (const [index, decoded] of decodeLines(content).entries()) reader.read(decoded, index + 1);
  return reader.finish();
}

class IniReader {
  readonly #file: string;
  readonly #sections = new Map<string, OpenSection>();
  readonly #problems: OptionProblem[] = [];
  #section: OpenSection | undefined;
  /** The option that deeper indented lines continue. */
  #option: OpenOption | undefined;

  constructor(file: string) {
    this.#file = file;
  }

  read(decoded: DecodedLine, line: number): void {
    if (decoded.kind === 'bad') {
      this.#complain(line, decoded.reason);
      return;
    }
    const text = decoded.text.trim();
    const indent = decoded.text.search(/\S/);
    if (text === '') this.#option?.lines.push('');
    else if (text.startsWith('#') || text.startsWith(';')) return;
    else if (this.#option !== undefined && indent > this.#option.indent) this.#option.lines.push(text);
    else if (text.startsWith('[')) this.#readHeader(text, line);
    else this.#readOption(text, line, indent);
  }

  finish(): IniFile {
    return {
      sections: new Map([...this.#sections].map(([name, open]) => [name, closeSection(open)])),
      problems: this.#problems,
    };
  }

  #readHeader(text: string, line: number): void {
    this.#option = undefined;
    const name = parseHeader(text);
    if (name === undefined) {
      this.#complain(line, `"${text}" is not a section header such as [web]`);
      return;
    }
    this.#section = { name, line, options: new Map() };
    const first = this.#sections.get(name);
    if (first === undefined) this.#sections.set(name, this.#section);
    else this.#complain(line, `section is there twice, first at line ${first.line}`, { section: name });
  }

  #readOption(text: string, line: number, indent: number): void {
    this.#option = undefined;
    const assignment = parseAssignment(text);
    if (assignment === undefined) {
      this.#complain(line, `"${text}" is neither an option (name = value) nor a section`);
      return;
    }
    const { name: option, value } = assignment;
    const section = this.#section;
    if (section === undefined) {
      this.#complain(line, 'stands before the first section; write [section] above it', { option });
      return;
    }
    this.#option = { lines: [value], line, indent };
    const first = section.options.get(option);
    if (first === undefined) section.options.set(option, this.#option);
    else this.#complain(line, `is set twice, first at line ${first.line}`, { section: section.name, option });
  }

  #complain(
    line: number,
    reason: string,
    of: { readonly section?: string; readonly option?: string } = {},
  ): void {
    this.#problems.push({ at: { file: this.#file, line }, section: '', reason, ...of });
  }
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
