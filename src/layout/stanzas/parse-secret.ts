/** `secret:` stanzas, and the `secrets` of jobs. */
import type { EncryptedValue, Json } from '../../model/job.ts';
import { reservedVariable } from '../../model/reserved-variables.ts';
import { type MappingReader, mappingReader } from '../reading/mapping-reader.ts';
import type { ParseContext } from '../reading/parse-context.ts';
import type { YamlMapping, YamlNode } from '../yaml/yaml-node.ts';
import type { SecretEntry, SecretStanza } from './stanzas.ts';

/** Of one secret: some 240 kB of text. Each costs a scheduler some milliseconds. */
const MOST_CHUNKS = 512;
/** Of an RSA key of 8192 bits. */
const LONGEST_CHUNK = 1368;

/** The values of `data` may be any of YAML, and encrypted ones at any depth. */
export function parseSecret(
  value: YamlMapping,
  offset: number,
  context: ParseContext,
): SecretStanza | undefined {
  const nameNode = value.entries.get('name')?.value;
  const subject = `secret ${nameNode?.kind === 'scalar' ? nameNode.text : ''}`.trim();
  const read = mappingReader(value, subject, context);
  const name = read.required('name');
  if (!read.has('data')) read.refuse(value.offset, 'missing-key', `${subject} lacks "data"`);
  const data = read.mapping('data');
  read.finish();
  if (name === undefined || data === undefined) return undefined;
  const encrypted: EncryptedValue[] = [];
  const plain: { [key: string]: Json } = {};
  for (const [key, entry] of data.entries)
    Object.defineProperty(plain, key, {
      value: plainOf(entry.value, [key], encrypted, subject, context),
      enumerable: true,
    });
  const chunks = encrypted.reduce((sum, each) => sum + each.chunks.length, 0);
  if (chunks > MOST_CHUNKS) {
    const text = `${subject} has ${chunks} encrypted chunks, at most ${MOST_CHUNKS} are read; encrypt a key here and the data with it`;
    read.refuse(read.offsetOf('data'), 'out-of-range', text);
  }
  return { kind: 'secret', offset, name, data: { plain, encrypted } };
}

function plainOf(
  node: YamlNode,
  at: EncryptedValue['at'],
  encrypted: EncryptedValue[],
  subject: string,
  context: ParseContext,
): Json {
  switch (node.kind) {
    case 'scalar':
      return node.value;
    case 'encrypted':
      encrypted.push({ at, chunks: node.chunks.map(chunk => chunk.replace(/\s+/g, '')) });
      checkChunks(node, subject, context);
      return null;
    case 'sequence':
      return node.elements.map((each, index) => plainOf(each, [...at, index], encrypted, subject, context));
    case 'mapping':
      return Object.fromEntries(
        [...node.entries].map(([key, { value }]) => [
          key,
          plainOf(value, [...at, key], encrypted, subject, context),
        ]),
      );
  }
}

function checkChunks(
  { chunks, offset }: Extract<YamlNode, { kind: 'encrypted' }>,
  subject: string,
  context: ParseContext,
): void {
  const bad = chunks
    .map(chunk => chunk.replace(/\s+/g, ''))
    .find(chunk => chunk.length > LONGEST_CHUNK || !/^[A-Za-z0-9+/]+={0,2}$/.test(chunk));
  if (chunks.length > 0 && bad === undefined) return;
  const text = `an encrypted value of ${subject} is not base64, or longer than one block of a key; encrypt it with "gatehouse encrypt"`;
  context.problem({ offset, code: 'bad-ciphertext', text });
}

/** A name, a list of names, or of `{name, secret, pass-to-parent}`. */
export function parseSecretUses(
  read: MappingReader,
  subject: string,
  context: ParseContext,
): readonly SecretEntry[] | undefined {
  const entries = read.list('secrets')?.flatMap(node => entryOf(node, subject, context));
  const names = new Set<string>();
  for (const { alias, offset } of entries ?? []) {
    if (names.has(alias))
      read.refuse(
        offset,
        'duplicate-name',
        `${subject} has two secrets with the name "${alias}"; rename one`,
      );
    names.add(alias);
  }
  return entries;
}

function entryOf(node: YamlNode, subject: string, context: ParseContext): readonly SecretEntry[] {
  const { offset } = node;
  let entry: SecretEntry | undefined;
  if (node.kind === 'mapping') {
    const read = mappingReader(node, `a secret of ${subject}`, context);
    const alias = read.required('name');
    const name = read.required('secret');
    const passToParent = read.boolean('pass-to-parent') ?? false;
    read.finish();
    if (alias === undefined || name === undefined) return [];
    if (!/^[A-Za-z_]\w*$/.test(alias)) {
      const text = `"${alias}" is not a valid variable name; use letters, digits and _`;
      context.problem({ offset, code: 'invalid-name', text });
    }
    entry = { name, alias, passToParent, offset };
  } else if (node.kind === 'scalar' && typeof node.value === 'string' && node.text !== '') {
    entry = { name: node.text, alias: node.text, passToParent: false, offset };
  }
  if (entry === undefined) {
    const text = `secrets of ${subject} must be names or mappings {name, secret}`;
    context.problem({ offset, code: 'wrong-type', text });
    return [];
  }
  const reserved = reservedVariable(entry.alias);
  if (reserved !== undefined) {
    const text = `the name "${entry.alias}" of a secret ${reserved}; choose another with {name, secret}`;
    context.problem({ offset, code: 'reserved-name', text });
  }
  return [entry];
}
