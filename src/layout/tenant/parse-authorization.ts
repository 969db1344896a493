/**
 * `authorization-rule:` and `api-root:` stanzas of the tenant file, and what a tenant says of them.
 *
 *     - authorization-rule:
 *         name: company
 *         conditions:
 *           - groups: "{tenant.name}"
 *     - tenant:
 *         name: acme
 *         access-rules: [company]
 *
 * A rule that is named and not defined refuses the file: a misspelt name would open or close the tenant to all.
 */
import { didYouMean } from '../../lib/nearest-name.ts';
import type {
  AuthorizationRule,
  ClaimCondition,
  RootAccess,
  TenantAccess,
} from '../../model/authorization.ts';
import type { Json } from '../../model/job.ts';
import { type MappingReader, mappingReader } from '../reading/mapping-reader.ts';
import type { ParseContext } from '../reading/parse-context.ts';
import { describeNode, jsonOf, type YamlMapping, type YamlNode } from '../yaml/yaml-node.ts';

/** Kinds of these stanzas; `admin-rule` is Zuul's older name of `authorization-rule`. */
export const ACCESS_STANZAS = ['authorization-rule', 'admin-rule', 'api-root'] as const;

/** Each condition is tried with each request to a tenant. */
const MOST_CONDITIONS = 100;

/** What the file says besides its tenants. */
export interface FileAccess {
  readonly rules: ReadonlyMap<string, AuthorizationRule>;
  readonly root: RootAccess | undefined;
}

/** @param stanzas all of the file; other kinds are left to the caller. */
export function parseFileAccess(stanzas: readonly YamlNode[], context: ParseContext): FileAccess {
  const rules = new Map<string, AuthorizationRule>();
  for (const kind of ['authorization-rule', 'admin-rule'] as const)
    for (const { value, offset } of stanzasOf(stanzas, kind, context)) {
      const rule = parseRule(value, kind, context);
      if (rule === undefined) continue;
      if (rules.has(rule.name)) {
        const text = `${kind} ${rule.name} is defined twice; rename one`;
        context.problem({ offset, code: 'duplicate-definition', text });
      }
      rules.set(rule.name, rule);
    }
  const [first, second] = stanzasOf(stanzas, 'api-root', context);
  if (second !== undefined) {
    const text = 'a second "api-root"; a tenant file has one at most';
    context.problem({ offset: second.offset, code: 'duplicate-definition', text });
  }
  if (first === undefined) return { rules, root: undefined };
  const read = mappingReader(first.value, 'api-root', context);
  const root = readRootAccess(read, 'api-root', rules, context);
  read.finish();
  return { rules, root };
}

/** `access-rules`, `admin-rules` and `authentication-realm` of a tenant; `access` is absent where all may read and no rule lets operate. */
export function readTenantAccess(
  read: MappingReader,
  subject: string,
  { rules, root }: FileAccess,
  context: ParseContext,
): { readonly access?: TenantAccess } {
  const own = readRootAccess(read, subject, rules, context);
  const adminRules = named(read, 'admin-rules', subject, rules, context);
  const isOpen = own.accessRules.length + adminRules.length === 0 && own.realm === undefined;
  if (isOpen && root === undefined) return {};
  return { access: { ...own, adminRules, ...(root === undefined ? {} : { root }) } };
}

function readRootAccess(
  read: MappingReader,
  subject: string,
  rules: FileAccess['rules'],
  context: ParseContext,
): RootAccess {
  const realm = read.string('authentication-realm');
  const accessRules = named(read, 'access-rules', subject, rules, context);
  // Zuul takes an empty list for "no rule", which lets all read; its author may have meant the contrary.
  if (read.has('access-rules') && accessRules.length === 0 && read.names('access-rules')?.length === 0)
    read.refuse(
      read.offsetOf('access-rules'),
      'missing-key',
      `access-rules of ${subject} is empty, which lets all read; name a rule or remove it`,
    );
  return { accessRules, ...(realm === undefined ? {} : { realm }) };
}

function named(
  read: MappingReader,
  key: 'access-rules' | 'admin-rules',
  subject: string,
  rules: FileAccess['rules'],
  context: ParseContext,
): readonly AuthorizationRule[] {
  return (read.names(key) ?? []).flatMap(({ name, offset }) => {
    const rule = rules.get(name);
    if (rule !== undefined) return [rule];
    const hint = didYouMean(name, rules.keys(), context.hints);
    const text = `${key} of ${subject} names ${name}, but there is no authorization-rule of that name${hint}; define it in this file`;
    // Without a rule of the first kind there are no operators; without one of `access-rules` all would read.
    const severity = key === 'admin-rules' ? ({ severity: 'warning' } as const) : {};
    context.problem({ offset, code: 'unknown-rule', text, ...severity });
    return [];
  });
}

function parseRule(value: YamlMapping, kind: string, context: ParseContext): AuthorizationRule | undefined {
  const read = mappingReader(value, kind, context);
  const name = read.required('name');
  const nodes = read.list('conditions');
  read.finish();
  const subject = `${kind} ${name ?? ''}`.trim();
  if (nodes === undefined || nodes.length === 0)
    read.refuse(
      value.offset,
      'missing-key',
      `${subject} lacks "conditions", a list of claims with their values`,
    );
  if (nodes !== undefined && nodes.length > MOST_CONDITIONS)
    read.refuse(
      read.offsetOf('conditions'),
      'out-of-range',
      `${subject} has ${nodes.length} conditions; it may have ${MOST_CONDITIONS}`,
    );
  const conditions = (nodes ?? [])
    .map(node => parseCondition(node, subject, context))
    .filter(condition => condition !== undefined);
  return name === undefined ? undefined : { name, conditions };
}

function parseCondition(node: YamlNode, subject: string, context: ParseContext): ClaimCondition | undefined {
  if (node.kind !== 'mapping') {
    const text = `a condition of ${subject} is ${describeNode(node)}; it must be a mapping of claims to values`;
    context.problem({ offset: node.offset, code: 'wrong-type', text });
    return undefined;
  }
  const empty = emptyPart(node);
  if (empty !== undefined) {
    const text = `a condition of ${subject} has an empty value, which would fit any token or none; name a claim and its value`;
    context.problem({ offset: empty.offset, code: 'wrong-type', text });
    return undefined;
  }
  return Object.fromEntries(
    [...node.entries].map(([claim, { value }]): [string, Json] => [claim, jsonOf(value)]),
  );
}

/** A mapping or list without members, or nothing where a value should be. */
function emptyPart(node: YamlNode): YamlNode | undefined {
  switch (node.kind) {
    case 'mapping':
      if (node.entries.size === 0) return node;
      return [...node.entries.values()].map(({ value }) => emptyPart(value)).find(part => part !== undefined);
    case 'sequence':
      if (node.elements.length === 0) return node;
      return node.elements.map(emptyPart).find(part => part !== undefined);
    case 'scalar':
      return node.value === null || node.value === '' ? node : undefined;
    case 'encrypted':
      return node;
  }
}

function stanzasOf(
  stanzas: readonly YamlNode[],
  kind: (typeof ACCESS_STANZAS)[number],
  context: ParseContext,
): readonly { readonly value: YamlMapping; readonly offset: number }[] {
  return stanzas.flatMap(stanza => {
    const entry = stanza.kind === 'mapping' ? stanza.entries.get(kind) : undefined;
    if (entry === undefined) return [];
    if (entry.value.kind === 'mapping') return [{ value: entry.value, offset: stanza.offset }];
    const text = `${kind} is ${describeNode(entry.value)}; it must be a mapping`;
    context.problem({ offset: entry.value.offset, code: 'wrong-type', text });
    return [];
  });
}
