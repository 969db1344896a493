/**
 * The tenant file, Zuul's main.yaml: which projects there are and which of them hold trusted configuration.
 *
 *     - tenant:
 *         name: acme
 *         source:
 *           local:
 *             config-projects: [acme/config]
 *             untrusted-projects: [acme/app, acme/lib: {exclude-branches: [^wip/]}]
 *
 * It cannot be fixed through the gate, so any mistake refuses the whole file; the caller keeps the last good one.
 */

import { didYouMean, hintBudget } from '../../lib/nearest-name.ts';
import type { ConfigError } from '../../model/config-error.ts';
import type { AnsibleChoice, Tenant, TenantProject } from '../../model/layout.ts';
import { type ConnectionName, projectIdOf } from '../../model/project.ts';
import { mappingReader } from '../reading/mapping-reader.ts';
import { type ParseContext, regexBudget } from '../reading/parse-context.ts';
import { parseYaml, type YamlDocument, type YamlProblem } from '../yaml/yaml.ts';
import { describeNode, type YamlMapping, type YamlNode } from '../yaml/yaml-node.ts';
import { ACCESS_STANZAS, type FileAccess, parseFileAccess, readTenantAccess } from './parse-authorization.ts';
import {
  GLOBAL_SEMAPHORE,
  type GlobalSemaphores,
  parseGlobalSemaphores,
  readGlobalSemaphores,
} from './parse-global-semaphores.ts';
import {
  type BranchExclusions,
  parseTenantProjects,
  readBranchExclusions,
  type TenantProjectEntry,
} from './parse-tenant-projects.ts';
import { readTenantRules } from './parse-tenant-rules.ts';
import { projectsNamed } from './projects-named.ts';
import { type ProjectResolver, projectResolver } from './resolve-project.ts';

/** Tenants in the order of the file, or every mistake in it. */
export type ParsedTenantFile =
  | {
      readonly kind: 'tenants';
      readonly tenants: readonly Tenant[];
      /** One for each option that does nothing here, at its first place. */
      readonly warnings: readonly ConfigError[];
    }
  | { readonly kind: 'invalid'; readonly errors: readonly [ConfigError, ...ConfigError[]] };

/** Stanzas that are read before the tenants, which name them. */
const SHARED_KINDS: readonly string[] = [GLOBAL_SEMAPHORE, ...ACCESS_STANZAS];
const KINDS = ['tenant', ...SHARED_KINDS];

/** Of Zuul's tenants, with the reason. */
const WITHOUT_EFFECT = {
  'report-build-page': 'reports always link to the pages of builds',
  'web-root': 'links lead to [web] root',
  'allow-circular-dependencies': 'a queue decides that, by the attribute of this name',
  'use-nodepool': 'there is no nodepool; executors offer labels',
  'max-oidc-ttl': 'jobs get no tokens of OpenID Connect',
  'allowed-oidc-issuers': 'jobs get no tokens of OpenID Connect',
};

/**
 * @param file the name shown in errors.
 * @param connections the configured ones, with the host part of canonical project names.
 * @param ansible the versions of Ansible that jobs may choose from.
 */
export function parseTenantFile(
  text: string,
  file: string,
  connections: ReadonlyMap<ConnectionName, string>,
  ansible?: AnsibleChoice,
): ParsedTenantFile {
  const place = (
    at: { line: number; column: number },
    { code, text: reason, severity }: Omit<YamlProblem, 'offset'>,
  ): ConfigError => {
    return { severity: severity ?? 'error', file, line: at.line, column: at.column, code, text: reason };
  };
  const yaml = parseYaml(text);
  if (yaml.kind === 'invalid') return { kind: 'invalid', errors: [place(yaml, yaml)] };
  const problems: YamlProblem[] = [...yaml.problems];
  const tenants = parseTenants(
    yaml,
    { connections, ansible },
    {
      regexes: regexBudget(),
      hints: hintBudget(),
      problem: problem => problems.push(problem),
    },
  );
  // A group of projects is read once per project in it; its mistakes are reported once.
  const unique = new Map(problems.map(problem => [`${problem.offset} ${problem.text}`, problem]));
  const sorted = [...unique.values()].toSorted((a, b) => a.offset - b.offset);
  const [first, ...rest] = sorted
    .filter(({ severity }) => severity !== 'warning')
    .map(problem => place(yaml.positionOf(problem.offset), problem));
  if (first !== undefined) return { kind: 'invalid', errors: [first, ...rest] };
  const warnings = joinedWarnings(sorted).map(problem => place(yaml.positionOf(problem.offset), problem));
  return { kind: 'tenants', tenants, warnings };
}

/** An option may be written for each of hundreds of projects. */
function joinedWarnings(problems: readonly YamlProblem[]): readonly YamlProblem[] {
  const groups = Map.groupBy(problems, ({ text }) => text);
  return [...groups.values()].flatMap(([first, ...others]) => {
    if (first === undefined) return [];
    const more = others.length === 1 ? '1 more place' : `${others.length} more places`;
    return [others.length === 0 ? first : { ...first, text: `${first.text} (and at ${more})` }];
  });
}

/** What tenants may name that the file does not define. */
interface SiteFacts {
  readonly connections: ReadonlyMap<ConnectionName, string>;
  readonly ansible: AnsibleChoice | undefined;
}

function parseTenants(
  { root, positionOf }: YamlDocument,
  site: SiteFacts,
  context: ParseContext,
): readonly Tenant[] {
  if (root?.kind !== 'sequence') {
    const what = root === undefined ? 'empty' : describeNode(root);
    context.problem({
      offset: root?.offset ?? 0,
      code: 'wrong-type',
      text: `the tenant file is ${what}; it must be a list of "- tenant:" stanzas`,
    });
    return [];
  }
  const tenants = new Map<string, { readonly tenant: Tenant; readonly offset: number }>();
  const shared = {
    semaphores: parseGlobalSemaphores(root.elements, context),
    access: parseFileAccess(root.elements, context),
  };
  for (const stanza of root.elements) {
    const value = tenantOf(stanza, context);
    const tenant = value === undefined ? undefined : parseTenant(value, site, shared, context);
    if (tenant === undefined) continue;
    const first = tenants.get(tenant.name);
    if (first === undefined) {
      tenants.set(tenant.name, { tenant, offset: stanza.offset });
    } else {
      const text = `tenant ${tenant.name} is defined twice, first at line ${positionOf(first.offset).line}; rename one`;
      context.problem({ offset: stanza.offset, code: 'duplicate-definition', text });
    }
  }
  return [...tenants.values()].map(({ tenant }) => tenant);
}

function tenantOf(stanza: YamlNode, context: ParseContext): YamlMapping | undefined {
  const [entry, second] = stanza.kind === 'mapping' ? [...stanza.entries] : [];
  if (entry === undefined) {
    context.problem({
      offset: stanza.offset,
      code: 'wrong-type',
      text: `a stanza is ${describeNode(stanza)}; it must be "tenant:" with a mapping below`,
    });
    return undefined;
  }
  const [key, { keyOffset, value }] = entry;
  if (SHARED_KINDS.includes(key)) return undefined;
  if (key !== 'tenant') {
    context.problem({
      offset: keyOffset,
      code: 'unknown-key',
      text: `unknown stanza "${key}"${didYouMean(key, KINDS) || `; known here: ${KINDS.join(', ')}`}`,
    });
    return undefined;
  }
  if (second !== undefined) {
    const text = `"${second[0]}" is next to "tenant"; indent it below "tenant" or start it with "- "`;
    context.problem({ offset: second[1].keyOffset, code: 'wrong-type', text });
  }
  if (value.kind === 'mapping') return value;
  context.problem({
    offset: value.offset,
    code: 'wrong-type',
    text: `tenant is ${describeNode(value)}; it must be a mapping`,
  });
  return undefined;
}

/** What the stanzas besides the tenants say. */
interface SharedStanzas {
  readonly semaphores: GlobalSemaphores;
  readonly access: FileAccess;
}

function parseTenant(
  value: YamlMapping,
  { connections, ansible }: SiteFacts,
  shared: SharedStanzas,
  context: ParseContext,
): Tenant | undefined {
  const nameNode = value.entries.get('name')?.value;
  const subject = nameNode?.kind === 'scalar' ? `tenant ${nameNode.text}` : 'tenant';
  const read = mappingReader(value, subject, context);
  const name = read.required('name');
  if (name !== undefined && !/^[\w.-]+$/.test(name)) {
    const text = `"${name}" is not a valid tenant name (it appears in URLs); use letters, digits, ".", "_" and "-"`;
    read.refuse(nameNode?.offset ?? value.offset, 'invalid-name', text);
  }
  const rules = {
    ...readTenantRules(read, context, ansible),
    ...readGlobalSemaphores(read, subject, shared.semaphores, context),
    ...readTenantAccess(read, subject, shared.access, context),
  };
  const source = read.mapping('source');
  if (source === undefined && !read.has('source')) {
    const text = `${subject} lacks "source", the connections and projects it consists of: it is empty`;
    context.problem({ offset: value.offset, code: 'missing-key', text, severity: 'warning' });
  }
  const exclude = readBranchExclusions(read);
  read.withoutEffect(WITHOUT_EFFECT);
  read.finish();
  if (name === undefined) return undefined;
  const entries = [...(source?.entries ?? [])].flatMap(([connection, { keyOffset, value: projects }]) => {
    if (connections.has(connection)) return parseTenantProjects(connection, projects, subject, context);
    const hint =
      didYouMean(connection, connections.keys()) ||
      `; configured: ${[...connections.keys()].join(', ') || 'none'}`;
    context.problem({
      offset: keyOffset,
      code: 'unknown-connection',
      text: `no connection is called "${connection}"${hint}`,
    });
    return [];
  });
  const hosts = Object.fromEntries(connections);
  const projects = inOrder(entries, subject, context);
  const plain = { name, projects: projects.map(({ project }) => project), hosts };
  const resolve = projectResolver(plain, context.hints);
  for (const entry of projects) checkConfigures(entry, plain, context);
  return {
    name,
    projects: projects.map(entry => wholeProject(entry, exclude, resolve, context)),
    hosts,
    ...rules,
  };
}

/** Config-projects first; a project twice is a mistake. */
function inOrder(
  entries: readonly TenantProjectEntry[],
  subject: string,
  context: ParseContext,
): readonly TenantProjectEntry[] {
  const seen = new Set<string>();
  for (const { project, offset } of entries) {
    if (seen.has(project.project)) {
      context.problem({
        offset,
        code: 'duplicate-name',
        text: `${subject} lists ${project.project} twice; remove one`,
      });
    }
    seen.add(project.project);
  }
  return entries.toSorted((a, b) => Number(b.project.trusted) - Number(a.project.trusted));
}

/** People who may change an untrusted project must not change what trusted ones do. */
function checkConfigures(
  { project: { project }, configures }: TenantProjectEntry,
  tenant: Pick<Tenant, 'projects' | 'hosts'>,
  context: ParseContext,
): void {
  for (const { name, offset } of configures) {
    const [trusted] = projectsNamed([name], true, tenant);
    if (trusted === undefined) continue;
    const text = `configure-projects of project ${projectIdOf(project).name} names ${projectIdOf(trusted).name}, a config-project, which only config-projects may configure; name untrusted projects`;
    context.problem({ offset, code: 'not-permitted', text });
  }
}

/** With what the tenant says for all its projects, and with the other projects that it names. */
function wholeProject(
  { project, exclude, shadows }: TenantProjectEntry,
  tenant: BranchExclusions,
  resolve: ProjectResolver,
  context: ParseContext,
): TenantProject {
  const shadowed = shadows.flatMap(({ name, offset }) => {
    const resolved = resolve(name);
    if (resolved.kind === 'project') return [resolved.project];
    context.problem({ offset, code: resolved.code, text: resolved.text });
    return [];
  });
  return {
    ...project,
    ...((exclude.unprotected ?? tenant.unprotected) === true ? { excludeUnprotected: true } : {}),
    ...((exclude.locked ?? tenant.locked) === true ? { excludeLocked: true } : {}),
    ...(shadowed.length === 0 ? {} : { shadows: shadowed }),
  };
}
