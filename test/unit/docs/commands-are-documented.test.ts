/** The reference of the command line has every command and every option, where its command is, and none that there is not. */
import { expect, test } from 'vitest';
import { runProgram } from '../../../src/cmd/commands/program.ts';
import { recordingIo } from '../cmd/fixture.ts';
import { sectionOf, textOf } from './repository-text.ts';

const REFERENCE = textOf('doc/reference/command-line.md');
const COMMON = ['Common to the commands that ask the service', 'What an act would do']
  .map(heading => sectionOf(REFERENCE, heading))
  .join('\n');
const HEADINGS = [...REFERENCE.matchAll(/^## (.*)$/gm)].map(([, heading = '']) => heading);

interface DocumentedCommand {
  /** `autohold request`. */
  readonly name: string;
  /** `--count`. */
  readonly options: readonly string[];
}

/** Of the manual page, which is made of the table of commands. */
async function commands(): Promise<readonly DocumentedCommand[]> {
  const io = recordingIo();
  expect(await runProgram(['man'], io)).toBe(0);
  const [, ...parts] = io
    .out()
    .replaceAll('\\-', '-')
    .split(/^\.SS /m);
  return parts.map(part => ({
    name: /^[a-z -]*[a-z]/.exec(part)?.[0] ?? '',
    options: [...part.matchAll(/^\.B (?:-\w, )?(--[a-z-]+)/gm)].flatMap(([, option = '']) =>
      option === '--help' ? [] : [option],
    ),
  }));
}

/** What is said of a command: the section with its name in the heading, else the first word's. */
function textAbout(name: string): string {
  const [word = ''] = name.split(' ');
  const named = (wanted: string) => HEADINGS.filter(heading => heading.split(', ').includes(wanted));
  const headings =
    named(name).length > 0 ? named(name) : HEADINGS.filter(each => each.split(/[, ]+/).includes(word));
  return headings.map(heading => sectionOf(REFERENCE, heading)).join('\n');
}

test('the overview and a section name every command', async () => {
  const all = await commands();
  expect(all.length).toBeGreaterThan(40);
  const [, overview = ''] = /^```\n(.*?)^```/ms.exec(REFERENCE) ?? [];
  const missing = all.flatMap(({ name }) => {
    const [word = ''] = name.split(' ');
    return overview.match(new RegExp(`(^gatehouse |[|])${word}\\b`, 'm')) === null || textAbout(name) === ''
      ? [name]
      : [];
  });
  expect(missing).toEqual([]);
});

test('every option is explained in the section of its command, or as common', async () => {
  const missing = (await commands()).flatMap(({ name, options }) =>
    options
      .filter(option => !`${textAbout(name)}${COMMON}`.includes(option))
      .map(option => `${name} ${option}`),
  );
  expect(missing).toEqual([]);
});

test('no table explains an option that there is not', async () => {
  const known = new Set((await commands()).flatMap(({ options }) => options));
  const explained = [...REFERENCE.matchAll(/^\| `(?:-\w, )?(--[a-z-]+)/gm)].map(([, option = '']) => option);
  expect(explained.length).toBeGreaterThan(60);
  expect(explained.filter(option => !known.has(option))).toEqual([]);
});
