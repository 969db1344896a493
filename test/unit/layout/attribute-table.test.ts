/**
 * The table of attributes, the parsers and the reference name the same attributes; and what the schema takes, the parsers take.
 *
 * A new attribute fails here until it has a line in `src/layout/stanzas/attribute-table.ts` and a row in the reference.
 */
import { Ajv } from 'ajv';
import { describe, expect, test } from 'vitest';
import { runProgram } from '../../../src/cmd/commands/program.ts';
import { languageSchema } from '../../../src/layout/language-schema.ts';
import {
  type AttributeTable,
  OVERRIDE_ATTRIBUTES,
  PROJECT_PIPELINE_ATTRIBUTES,
  STANZA_ATTRIBUTES,
  type ValueType,
} from '../../../src/layout/stanzas/attribute-table.ts';
import { parseFile } from '../../../src/layout/stanzas/parse-file.ts';
import { STANZA_KINDS, type StanzaKind } from '../../../src/layout/stanzas/stanzas.ts';
import type { Json } from '../../../src/model/job.ts';
import { recordingIo } from '../cmd/fixture.ts';
import { sectionOf, textOf } from '../docs/repository-text.ts';

/** For each type of value some that parser and schema take, and some that both refuse. */
const SAMPLES: {
  readonly [type in ValueType]: { readonly good: readonly Json[]; readonly bad: readonly Json[] };
} = {
  alternatives: { good: [['small', 'large'], [{ nodes: [{ name: 'a', label: 'b' }] }]], bad: [[['a']]] },
  any: { good: ['a'], bad: [] },
  'attribute-control': {
    good: [{ vars: { final: true } }],
    bad: ['a', { vars: { finnal: true } }, { vars: 3 }],
  },
  'auto-or-boolean': { good: [true, 'auto'], bad: ['sometimes', 3] },
  boolean: { good: [true, false], bad: [3, ['a']] },
  count: { good: [1, 20], bad: [0, 'a', 1.5] },
  data: { good: [{ a: 1, b: { c: ['d'] } }], bad: ['a', ['b']] },
  dependencies: { good: ['a', ['a', { name: 'b', soft: true }]], bad: [[['a']], [{ soft: true }]] },
  'driver-entries': { good: [{ local: { a: 1 } }], bad: ['a', ['b']] },
  groups: { good: [[{ name: 'g', nodes: ['n'] }]], bad: ['a', [{ nodes: ['n'] }]] },
  'include-vars': {
    good: [
      'a.yaml',
      [
        { name: 'a.yaml', project: 'acme/app', required: false },
        { name: 'b', 'zuul-project': true },
      ],
    ],
    bad: [[['a']], [{ nme: 'a' }]],
  },
  jobs: {
    good: [['a', { b: { timeout: 3 } }, { c: null }]],
    bad: [[{ b: 3 }], [['a']], [{ b: { tiemout: 1 } }]],
  },
  manager: { good: ['independent', 'dependent'], bad: ['depndent', 3] },
  mapping: { good: [{ a: 1 }, {}], bad: ['a', ['b']] },
  matchers: { good: ['a', ['a', 'b'], { regex: 'a', negate: true }], bad: [{ regx: 'a' }, [['a']]] },
  'merge-mode': { good: ['merge', 'rebase'], bad: ['marge', 3] },
  name: { good: ['a', 1.5], bad: [['a'], { a: 1 }, true] },
  'name-or-nothing': { good: ['a', null], bad: [['a'], { a: 1 }] },
  'named-mappings': { good: [{ n: { a: 1 } }], bad: ['a', { n: 3 }] },
  names: { good: ['a', ['a', 'b']], bad: [[['a']], [true]] },
  nodes: {
    good: [[{ name: 'a', label: 'b' }], [{ name: ['a', 'c'], label: 'b' }]],
    bad: ['a', [{ name: 'a' }]],
  },
  nodeset: { good: ['a', { nodes: [{ name: 'a', label: 'b' }] }], bad: [['a'], { nodse: [] }] },
  playbooks: {
    good: ['a.sh', ['a.sh', { name: 'b.yaml', semaphores: ['s'] }]],
    bad: [[['a']], 3, [{ name: 'b', cleanup: 3 }]],
  },
  'post-playbooks': {
    good: ['a.sh', [{ name: 'b.yaml', cleanup: true }]],
    bad: [[['a']], 3, [{ name: 'b', cleenup: true }]],
  },
  precedence: { good: ['high', 'low'], bad: ['hihg', 3] },
  'required-projects': {
    good: ['a', [{ name: 'a', 'override-checkout': 'b' }]],
    bad: [[['a']], [{ nme: 'a' }]],
  },
  roles: { good: [[{ zuul: 'a' }], [{ zuul: 'a/b', name: 'c' }]], bad: [['a'], [{ zul: 'a' }]] },
  secrets: {
    good: ['a', [{ name: 'a', secret: 'b', 'pass-to-parent': true }]],
    bad: [[['a']], [{ nme: 'a' }]],
  },
  semaphores: { good: ['a', [{ name: 'a', 'resources-first': true }]], bad: [[['a']], [{ nme: 'a' }]] },
  step: { good: ['linear', 'exponential'], bad: ['lineer', 3] },
  text: { good: ['some text'], bad: [['a'], { a: 1 }] },
  trace: { good: ['own', 'auto'], bad: ['never', 3] },
  window: { good: [0, 20], bad: [-1, 'a'] },
  'window-or-nothing': { good: [4, null], bad: [0, 'a'] },
  'workspace-scheme': { good: ['flat', 'unique'], bad: ['flatt', 3] },
};

/** What makes a stanza whole besides the attribute in question. */
const WHOLE: { readonly [kind in StanzaKind]: { readonly [name: string]: Json } } = {
  job: { name: 'a' },
  pipeline: { name: 'a', manager: 'independent' },
  project: {},
  'project-template': { name: 'a' },
  queue: { name: 'a' },
  nodeset: { name: 'a', nodes: [{ name: 'n', label: 'l' }] },
  secret: { name: 'a', data: {} },
  semaphore: { name: 'a' },
  pragma: {},
};

/** AttributeTable that ask for others beside them. */
const BESIDE: { readonly [name: string]: { readonly [name: string]: Json | undefined } } = {
  intermediate: { abstract: true },
  alternatives: { nodes: undefined },
  'dependencies-by-topic': { 'allow-circular-dependencies': true },
};

const ajv = new Ajv({ strict: false, allowUnionTypes: true });
const fits = ajv.compile(languageSchema());

/** Codes of mistakes, warnings aside; and whether the schema takes it. JSON is YAML. */
function judge(stanza: Json) {
  const { problems, stanzas } = parseFile(JSON.stringify([stanza]));
  const all = [...problems, ...stanzas.flatMap(each => (each.kind === 'broken' ? each.problems : []))];
  return {
    mistakes: all.filter(({ severity }) => severity !== 'warning').map(({ text }) => text),
    warnings: all.filter(({ severity }) => severity === 'warning').map(({ code }) => code),
    schema: fits([stanza]),
  };
}

function stanzaWith(kind: StanzaKind, name: string, value: Json): Json {
  const whole = Object.entries({ ...WHOLE[kind], ...BESIDE[name], [name]: value });
  return { [kind]: Object.fromEntries(whole.filter(([, each]) => each !== undefined)) as Json };
}

const EVERY = STANZA_KINDS.flatMap(kind =>
  Object.entries(STANZA_ATTRIBUTES[kind]).map(([name, attribute]) => ({ kind, name, ...attribute })),
);

describe('the table of attributes', () => {
  test.each(STANZA_KINDS.filter(kind => !kind.startsWith('project')))(
    'has exactly those that the parser of %s knows',
    kind => {
      const text = judge({ [kind]: { ...WHOLE[kind], zzzzqqqqxxxx: 1 } }).mistakes.join('\n');
      const known = /known here: (.*)$/m.exec(text)?.[1]?.split(', ') ?? [];
      const listed = Object.entries(STANZA_ATTRIBUTES[kind]).filter(([, { noEffect }]) => noEffect !== true);
      expect(listed.map(([name]) => name).toSorted()).toEqual(known.toSorted());
    },
  );

  test('has exactly those that overrides of jobs, and pipelines of projects, know', () => {
    const override = judge({ project: { check: { jobs: [{ a: { zzzzqqqqxxxx: 1 } }] } } }).mistakes.join(
      '\n',
    );
    const pipeline = judge({ project: { check: { zzzzqqqqxxxx: 1 } } }).mistakes.join('\n');
    const listed = (attributes: AttributeTable) =>
      Object.entries(attributes)
        .filter(([, { noEffect }]) => noEffect !== true)
        .map(([name]) => name)
        .toSorted();
    const known = (text: string) => (/known here: (.*)$/m.exec(text)?.[1]?.split(', ') ?? []).toSorted();
    expect(listed(OVERRIDE_ATTRIBUTES)).toEqual(known(override));
    expect(listed(PROJECT_PIPELINE_ATTRIBUTES)).toEqual(known(pipeline));
  });

  test.each(EVERY)('$kind: $name of type $type is taken and refused by parser and schema alike', each => {
    const { good, bad } = SAMPLES[each.type];
    for (const value of good) {
      const { mistakes, warnings, schema } = judge(stanzaWith(each.kind, each.name, value));
      expect({ value, mistakes, schema }).toEqual({ value, mistakes: [], schema: true });
      if (each.noEffect === true) expect(warnings).toContain('no-effect');
    }
    for (const value of bad) {
      const { mistakes, schema } = judge(stanzaWith(each.kind, each.name, value));
      expect({ value, isMistake: mistakes.length > 0, schema }).toEqual({
        value,
        isMistake: true,
        schema: false,
      });
    }
  });

  test.each(EVERY.filter(({ required }) => required === true))('$kind needs $name', ({ kind, name }) => {
    const rest = Object.fromEntries(Object.entries(WHOLE[kind]).filter(([each]) => each !== name));
    const { mistakes, schema } = judge({ [kind]: rest });
    expect({ isMistake: mistakes.length > 0, schema }).toEqual({ isMistake: true, schema: false });
  });

  test.each(STANZA_KINDS)(
    'has the attributes of %s that the reference has a row for, and no others',
    kind => {
      const text = textOf('doc/reference/configuration-language.md');
      const rows = sectionOf(text, kind).split(/^#{3,4} /m)[0] ?? '';
      const documented = [...rows.matchAll(/^\| (`[^|]+) \|/gm)].flatMap(([, names = '']) => [
        ...names.matchAll(/`([a-z<>-]+)`/g),
      ]);
      const named = new Set(documented.map(([, name = '']) => name));
      const table = Object.entries(STANZA_ATTRIBUTES[kind]);
      const spans = new Set([...text.matchAll(/`([a-z-]+)`/g)].map(([, span = '']) => span));
      const missing = table.filter(
        ([name]) => !named.has(name) && !spans.has(name) && !/-(message|factor)$/.test(name),
      );
      expect(missing.map(([name]) => name)).toEqual([]);
      const unknown = [...named].filter(
        name => !name.startsWith('-') && !name.includes('<') && !(name in STANZA_ATTRIBUTES[kind]),
      );
      expect(unknown).toEqual([]);
    },
  );
});

test('gatehouse schema prints the schema, which takes a whole file and refuses a misspelt one', async () => {
  const io = recordingIo({});
  expect(await runProgram(['schema'], io)).toBe(0);
  const schema: Json = JSON.parse(io.out());
  expect(schema).toEqual(languageSchema());
  const file = [
    { job: { name: 'unit', run: 'test.sh', files: ['^src/'] } },
    { project: { queue: 'integrated', check: { jobs: ['unit', { docs: { voting: false } }] } } },
  ];
  expect(fits(file)).toBe(true);
  expect(fits([{ jub: { name: 'unit' } }])).toBe(false);
  expect(fits([{ job: { name: 'unit' }, project: {} }])).toBe(false);
  expect(fits({ job: { name: 'unit' } })).toBe(false);
});
