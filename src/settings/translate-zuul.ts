/** Applies the table of `zuul-names.ts` to the sections of a file, before they are read. Pure. */
import type { OptionProblem } from '../lib/option-reader.ts';
import type { IniOption, IniSection } from './ini-file.ts';
import {
  DRIVERS_OF_CLOUDS,
  OPTIONS_OF_ZUUL,
  type OptionFate,
  SECTIONS_OF_ZUUL,
  type SectionFate,
} from './zuul-names.ts';

/** What became of an option, or of a whole section (without `option`). In the order of the file. */
export interface ZuulNote {
  readonly line: number;
  readonly section: string;
  readonly option?: string;
  readonly fate: OptionFate;
}

/** The sections as Gatehouse names them, without what is ignored; refused ones stand in `notes` only. */
export interface Translated {
  readonly sections: ReadonlyMap<string, IniSection>;
  readonly notes: readonly ZuulNote[];
}

const NO_DRIVER_HERE: SectionFate = {
  kind: 'ignored',
  why: 'executors offer labels themselves; no cloud is asked',
};
const SET_ALREADY = 'the option that takes its place is set, too';

/** @param sections as parsed. */
export function translateZuul(sections: ReadonlyMap<string, IniSection>): Translated {
  const notes: ZuulNote[] = [];
  const kept = new Map<string, Map<string, IniOption>>();
  const renamed: (ZuulNote & { readonly option: string })[] = [];
  for (const section of sections.values()) {
    const fate = fateOfSection(section);
    if (fate !== undefined) {
      notes.push({ line: section.line, section: section.name, fate });
      continue;
    }
    const options = new Map(section.options);
    for (const [option, { line }] of section.options) {
      const found = fateOfOption(section, option);
      if (found === undefined) continue;
      options.delete(option);
      const note = { line, section: section.name, option, fate: found };
      if (found.kind === 'renamed') renamed.push(note);
      else notes.push(note);
    }
    kept.set(section.name, options);
  }
  for (const note of renamed) notes.push(renamedNote(note, sections, kept));
  const lineOf = (name: string) => sections.get(name)?.line ?? 0;
  return {
    sections: new Map([...kept].map(([name, options]) => [name, { name, line: lineOf(name), options }])),
    notes: notes.toSorted((a, b) => a.line - b.line),
  };
}

/** Puts the option in its place, unless there is one already. */
function renamedNote(
  note: ZuulNote & { readonly option: string },
  sections: ReadonlyMap<string, IniSection>,
  kept: Map<string, Map<string, IniOption>>,
): ZuulNote {
  const { fate } = note;
  const value = sections.get(note.section)?.options.get(note.option);
  if (fate.kind !== 'renamed' || value === undefined) return note;
  const target = kept.get(fate.section) ?? new Map<string, IniOption>();
  if (target.has(fate.option)) return { ...note, fate: { kind: 'ignored', why: SET_ALREADY } };
  kept.set(fate.section, target.set(fate.option, value));
  return note;
}

function fateOfSection({ name, options }: IniSection): SectionFate | undefined {
  const [word = ''] = name.split(/\s/);
  if (word === 'connection' && DRIVERS_OF_CLOUDS.has(options.get('driver')?.raw ?? '')) return NO_DRIVER_HERE;
  return Object.hasOwn(SECTIONS_OF_ZUUL, word) ? SECTIONS_OF_ZUUL[word] : undefined;
}

function fateOfOption({ name, options }: IniSection, option: string): OptionFate | undefined {
  const [word = ''] = name.split(/\s/);
  const fates = Object.hasOwn(OPTIONS_OF_ZUUL, word) ? OPTIONS_OF_ZUUL[word] : undefined;
  const fate = fates !== undefined && Object.hasOwn(fates, option) ? fates[option] : undefined;
  if (fate?.kind === 'renamed' && fate.needs !== undefined && !options.has(fate.needs))
    return { kind: 'ignored', why: `it does nothing without ${fate.needs}` };
  return fate;
}

/** Those that keep a process from starting. */
export function refusedNotes(notes: readonly ZuulNote[], file: string): readonly OptionProblem[] {
  return notes.flatMap(({ line, section, option, fate }) =>
    fate.kind === 'refused'
      ? [
          {
            ...{ at: { file, line }, section, reason: `is not supported: ${fate.advice}` },
            ...(option === undefined ? {} : { option }),
          },
        ]
      : [],
  );
}

/** One warning for all that is ignored and renamed; none when nothing is. */
export function zuulWarning(notes: readonly ZuulNote[], file: string): readonly OptionProblem[] {
  const taken = notes.filter(({ fate }) => fate.kind !== 'refused');
  const [first] = taken;
  if (first === undefined) return [];
  const named = (kind: OptionFate['kind']) =>
    taken
      .filter(({ fate }) => fate.kind === kind)
      .map(({ section, option, fate }) =>
        fate.kind === 'renamed'
          ? `[${section}] ${option} as [${fate.section}] ${fate.option}`
          : [`[${section}]`, ...(option === undefined ? [] : [option])].join(' '),
      );
  const parts = [
    ...listed('without effect here', named('ignored')),
    ...listed('read under another name', named('renamed')),
  ];
  const reason = `options of zuul.conf: ${parts.join('; ')} ("gatehouse migrate ${file}" gives reasons)`;
  return [{ at: { file, line: first.line }, section: '', reason }];
}

function listed(what: string, names: readonly string[]): readonly string[] {
  return names.length === 0 ? [] : [`${what}: ${names.join(', ')}`];
}
