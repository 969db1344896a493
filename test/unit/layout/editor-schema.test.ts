/**
 * What an editor would say of real files: yaml-language-server checks them by the schema that `gatehouse schema` prints, with the tags that
 * the reference lists for it. Every file that the service takes must be without a finding there; the files are those of the transcripts,
 * of the demonstration, of `gatehouse init`, and of the scenarios' classic layout.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { CORE_SCHEMA, defineScalarTag, load, mapTag, mergeTag, seqTag, type TagDefinition } from 'js-yaml';
import { describe, expect, test } from 'vitest';
import { CONFIG_PROJECT_FILES, EXAMPLE_FILES } from '../../../src/cmd/init/first-files.ts';
import { API_FILES, APP_FILES, CONFIG_FILES } from '../../../src/cmd/quickstart/demo-files.ts';
import { languageSchema } from '../../../src/layout/language-schema.ts';
import { parseFile } from '../../../src/layout/stanzas/parse-file.ts';
import { classicLayout } from '../../scenario/layouts.ts';
import { textOf } from '../docs/repository-text.ts';
import { BASE } from './fixture.ts';
import { parseTranscript } from './transcript.ts';

const ajv = new Ajv({ strict: false, allowUnionTypes: true });
const fits = ajv.compile(languageSchema());

/** `!override sequence` and so on, from the settings that the reference shows. */
function customTags(): readonly TagDefinition[] {
  const [, listed = ''] = /"yaml\.customTags": \[(.*)\]/.exec(textOf('doc/reference/command-line.md')) ?? [];
  return [...listed.matchAll(/"(\S+) (\w+)"/g)].map(([, tag = '', kind]) => {
    switch (kind) {
      case 'scalar':
        return defineScalarTag(tag, { identify: () => false, resolve: text => text });
      case 'sequence':
        return { ...seqTag, tagName: tag };
      case 'mapping':
        return { ...mapTag, tagName: tag };
      default:
        throw new Error(`tag ${tag} is of the kind ${kind}`);
    }
  });
}

const EDITOR = CORE_SCHEMA.withTags(mergeTag, ...customTags());

const TRANSCRIPTS = new URL('./transcripts/', import.meta.url);

interface ConfigurationFile {
  readonly from: string;
  readonly text: string;
}

function transcriptFiles(): readonly ConfigurationFile[] {
  return readdirSync(TRANSCRIPTS).flatMap(name =>
    parseTranscript(readFileSync(new URL(name, TRANSCRIPTS), 'utf8')).flatMap(({ title, files }) =>
      files
        .filter(({ header }) => /\.ya?ml$/.test(header) && !header.startsWith('tenant '))
        .map(({ header, text }) => ({ from: `${name}: ${title}: ${header}`, text })),
    ),
  );
}

const OTHERS: readonly ConfigurationFile[] = [
  ...[...CONFIG_FILES, ...APP_FILES, ...API_FILES, ...CONFIG_PROJECT_FILES, ...EXAMPLE_FILES]
    .filter(({ path }) => /(^|\/)\.?zuul(\.d\/.*)?\.yaml$/.test(path))
    .map(({ path, text }) => ({ from: path, text })),
  { from: 'the classic layout', text: classicLayout({ check: true, byTopic: true }) },
  { from: 'the base of transcripts', text: BASE },
];

/** Files that hold nothing aside: an editor checks none. */
function isTaken(text: string): boolean {
  const { problems, stanzas } = parseFile(text);
  return (
    stanzas.length > 0 &&
    problems.every(({ severity }) => severity === 'warning') &&
    stanzas.every(({ kind }) => kind !== 'broken')
  );
}

function findings({ from, text }: ConfigurationFile): readonly string[] {
  if (fits(load(text, { schema: EDITOR }))) return [];
  return [`${from}\n${text}\n${ajv.errorsText(fits.errors)}`];
}

describe('an editor with the schema', () => {
  test('finds nothing in the files of transcripts that the service takes', () => {
    const taken = transcriptFiles().filter(({ text }) => isTaken(text));
    expect(taken.length).toBeGreaterThan(100);
    expect(taken.flatMap(findings)).toEqual([]);
  });

  test('nor in the files that people copy', () => {
    expect(OTHERS.length).toBeGreaterThan(6);
    expect(OTHERS.filter(({ text }) => !isTaken(text))).toEqual([]);
    expect(OTHERS.flatMap(findings)).toEqual([]);
  });
});
