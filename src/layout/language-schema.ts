/**
 * The configuration language as a JSON Schema (draft 7, which yaml-language-server reads), from the table of attributes. It is for editors:
 * names, types and words. What needs more than one stanza, and what drivers read, is left to `gatehouse lint` and to the service.
 */
import type { Json } from '../model/job.ts';
import {
  type Attribute,
  type AttributeTable,
  OVERRIDE_ATTRIBUTES,
  PROJECT_PIPELINE_ATTRIBUTES,
  STANZA_ATTRIBUTES,
  type ValueType,
  WORDS,
} from './stanzas/attribute-table.ts';
import { PROVIDER_KINDS, STANZA_KINDS } from './stanzas/stanzas.ts';

type Schema = { readonly [keyword: string]: Json };

const REFERENCE = 'configuration-language.md';

/** A number needs no quotes: a branch may be called `1.0`. */
const name: Schema = { type: ['string', 'number'] };
/** YAML 1.1, as Zuul reads it, has more words for these; editors take them for strings. */
const boolean: Schema = {
  anyOf: [
    { type: 'boolean' },
    { enum: ['yes', 'no', 'on', 'off', 'Yes', 'No', 'On', 'Off', 'YES', 'NO', 'ON', 'OFF'] },
  ],
};
const nothing: Schema = { type: 'null' };
const mapping: Schema = { type: 'object' };
const count: Schema = { type: 'integer', minimum: 1 };

const oneOrList = (element: Schema): Schema => ({
  anyOf: [element, { type: 'array', items: element }, nothing],
});
const object = (properties: { readonly [name: string]: Schema }, required: readonly string[]): Schema => ({
  ...{ type: 'object', additionalProperties: false },
  ...{ properties, required: [...required] },
});
const words = (known: readonly string[]): Schema => ({ enum: [...known] });

const matcher: Schema = { anyOf: [name, object({ regex: name, negate: boolean }, ['regex'])] };
const nodes: Schema = oneOrList(object({ label: name, name: oneOrList(name) }, ['label']));
const groups: Schema = oneOrList(object({ name, nodes: oneOrList(name) }, ['name']));
const plainNodeset: Schema = object({ nodes, groups }, []);
const alternatives: Schema = oneOrList({ anyOf: [name, plainNodeset] });

const VALUES: { readonly [type in ValueType]: Schema } = {
  alternatives,
  any: {},
  // Which attributes it takes is the parser's to say.
  'attribute-control': { type: 'object', additionalProperties: object({ final: boolean }, ['final']) },
  'auto-or-boolean': { anyOf: [boolean, { enum: ['auto', 'true', 'false'] }] },
  boolean,
  count,
  data: mapping,
  dependencies: oneOrList({ anyOf: [name, object({ name, soft: boolean }, ['name'])] }),
  'driver-entries': { anyOf: [mapping, nothing] },
  groups,
  'include-vars': oneOrList({
    anyOf: [
      name,
      object({ name, project: name, 'zuul-project': boolean, 'use-ref': boolean, required: boolean }, [
        'name',
      ]),
    ],
  }),
  jobs: oneOrList({
    anyOf: [
      name,
      {
        ...{ type: 'object', minProperties: 1, maxProperties: 1 },
        additionalProperties: { anyOf: [{ $ref: '#/definitions/override' }, nothing] },
      },
    ],
  }),
  manager: words(WORDS.manager),
  mapping,
  matchers: oneOrList(matcher),
  'merge-mode': words(WORDS['merge-mode']),
  name,
  'name-or-nothing': { type: ['string', 'number', 'null'] },
  'named-mappings': { type: 'object', additionalProperties: mapping },
  names: oneOrList(name),
  nodes,
  nodeset: { anyOf: [name, object({ label: name, nodes, groups, alternatives }, [])] },
  playbooks: oneOrList({
    anyOf: [{ type: 'string' }, object({ name: { type: 'string' }, semaphores: oneOrList(name) }, ['name'])],
  }),
  'post-playbooks': oneOrList({
    anyOf: [
      { type: 'string' },
      object({ name: { type: 'string' }, semaphores: oneOrList(name), cleanup: boolean }, ['name']),
    ],
  }),
  precedence: words(WORDS.precedence),
  'required-projects': oneOrList({
    anyOf: [name, object({ name, 'override-branch': name, 'override-checkout': name }, ['name'])],
  }),
  roles: oneOrList(object({ zuul: name, galaxy: name, name }, [])),
  secrets: oneOrList({
    anyOf: [name, object({ name, secret: name, 'pass-to-parent': boolean }, ['name', 'secret'])],
  }),
  semaphores: oneOrList({ anyOf: [name, object({ name, 'resources-first': boolean }, ['name'])] }),
  step: words(WORDS.step),
  text: name,
  trace: words(WORDS.trace),
  window: { type: 'integer', minimum: 0 },
  'window-or-nothing': { type: ['integer', 'null'], minimum: 1 },
  'workspace-scheme': words(WORDS['workspace-scheme']),
};

/** The whole schema, ready to print. */
export function languageSchema(): Schema {
  const definitions = Object.fromEntries(STANZA_KINDS.map(kind => [kind, stanzaSchema(kind)]));
  const kinds = [
    ...STANZA_KINDS.map((kind): [string, Schema] => [kind, { $ref: `#/definitions/${kind}` }]),
    ...PROVIDER_KINDS.map((kind): [string, Schema] => [kind, { deprecated: true }]),
  ];
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Zuul configuration, as Gatehouse reads it',
    type: ['array', 'null'],
    items: {
      ...{ type: 'object', minProperties: 1, maxProperties: 1, additionalProperties: false },
      properties: Object.fromEntries(kinds),
    },
    definitions: {
      ...definitions,
      override: attributesSchema(OVERRIDE_ATTRIBUTES, false),
      'project-pipeline': attributesSchema(PROJECT_PIPELINE_ATTRIBUTES, false),
    },
  };
}

function stanzaSchema(kind: (typeof STANZA_KINDS)[number]): Schema {
  const hasPipelines = kind === 'project' || kind === 'project-template';
  const schema = attributesSchema(
    STANZA_ATTRIBUTES[kind],
    hasPipelines ? { $ref: '#/definitions/project-pipeline' } : false,
  );
  return { description: `See "${kind}" in ${REFERENCE}`, ...schema };
}

function attributesSchema(attributes: AttributeTable, others: Schema | false): Schema {
  const required = Object.entries(attributes).flatMap(([key, attribute]) =>
    attribute.required === true ? [key] : [],
  );
  return {
    type: 'object',
    properties: Object.fromEntries(
      Object.entries(attributes).map(([key, attribute]) => [key, attributeSchema(attribute)]),
    ),
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: others,
  };
}

function attributeSchema({ type, noEffect }: Attribute): Schema {
  return noEffect === true
    ? { ...VALUES[type], deprecated: true, description: 'No effect here' }
    : VALUES[type];
}
