/**
 * `nodes.yaml`: the machines that jobs run on over ssh, and the providers that make nodes for them (`parse-providers.ts`).
 *
 *     private-key: /etc/gatehouse/nodes-key
 *     tenant-limits: {acme: 10}
 *     outage-limit: 3600
 *     hosts:
 *       - name: web1
 *         address: 10.0.0.5
 *         host-key: ssh-ed25519 AAAAC3Nza…
 *         labels: [debian-12]
 *     providers:
 *       - name: cluster
 *         driver: kubernetes
 *         …
 *
 * Any mistake refuses the whole file; the caller keeps the last good one.
 */
import { type MappingReader, mappingReader } from '../layout/reading/mapping-reader.ts';
import { type ParseContext, regexBudget } from '../layout/reading/parse-context.ts';
import { parseYaml, type YamlProblem } from '../layout/yaml/yaml.ts';
import { describeNode, type YamlMapping, type YamlNode } from '../layout/yaml/yaml-node.ts';
import { hintBudget } from '../lib/nearest-name.ts';
import type { ConfigError } from '../model/config-error.ts';
import type { NodesFile, StaticHost } from '../model/static-host.ts';
import { parseHostKey } from './host-key.ts';
import { readPool } from './parse-providers.ts';
import { isNodeName, readVariables, readZone } from './read-node-facts.ts';

/** The file, or every mistake in it. */
export type ParsedNodesFile =
  | ({ readonly kind: 'nodes' } & NodesFile)
  | { readonly kind: 'invalid'; readonly errors: readonly [ConfigError, ...ConfigError[]] };

/** All are in one view of every scheduler. */
const MOST_HOSTS = 2000;
const MOST_PROVIDERS = 100;
const MOST_JOBS = 1000;
/** Seconds. */
const DEFAULT_OUTAGE = 3600;
const LONGEST_OUTAGE = 30 * 86_400;

/** @param file the name shown in errors. */
export function parseNodesFile(text: string, file: string): ParsedNodesFile {
  const place = (at: { line: number; column: number }, { code, text: reason }: Omit<YamlProblem, 'offset'>) =>
    ({ severity: 'error', file, line: at.line, column: at.column, code, text: reason }) as const;
  const yaml = parseYaml(text);
  if (yaml.kind === 'invalid') return { kind: 'invalid', errors: [place(yaml, yaml)] };
  const problems: YamlProblem[] = [...yaml.problems];
  const parsed = readFile(yaml.root, {
    regexes: regexBudget(),
    hints: hintBudget(),
    problem: problem => problems.push(problem),
  });
  const [first, ...rest] = problems
    .toSorted((a, b) => a.offset - b.offset)
    .map(problem => place(yaml.positionOf(problem.offset), problem));
  return first === undefined ? { kind: 'nodes', ...parsed } : { kind: 'invalid', errors: [first, ...rest] };
}

function readFile(root: YamlNode | undefined, context: ParseContext): NodesFile {
  const nothing = { hosts: [], pools: [], tenantLimits: new Map<string, number>(), outageLimit: null };
  if (root?.kind !== 'mapping') {
    const what = root === undefined ? 'empty' : describeNode(root);
    const text = `the file of nodes is ${what}; it must be a mapping with "hosts" or "providers"`;
    context.problem({ offset: root?.offset ?? 0, code: 'wrong-type', text });
    return nothing;
  }
  const read = mappingReader(root, 'the file of nodes', context);
  const privateKey = read.string('private-key');
  const tenantLimits = readLimits(read, context);
  const outageLimit = read.integer('outage-limit', { min: 0, max: LONGEST_OUTAGE }) ?? DEFAULT_OUTAGE;
  const names = new Set<string>();
  const hosts = readNamed(read, { key: 'hosts', most: MOST_HOSTS, names }, context, entry =>
    readHost(entry, privateKey, context),
  );
  const pools = readNamed(read, { key: 'providers', most: MOST_PROVIDERS, names }, context, entry =>
    readPool(entry, context),
  );
  read.finish();
  return {
    hosts,
    pools,
    tenantLimits,
    outageLimit: outageLimit === 0 ? null : outageLimit * 1000,
  };
}

/** @param names of all entries so far: hosts and providers share them. */
function readNamed<T extends { readonly name: string }>(
  read: MappingReader,
  { key, most, names }: { readonly key: string; readonly most: number; readonly names: Set<string> },
  context: ParseContext,
  readEntry: (entry: YamlNode) => T | undefined,
): readonly T[] {
  const entries = read.list(key) ?? [];
  if (entries.length > most)
    read.refuse(read.offsetOf(key), 'out-of-range', `${key} has more than ${most} entries`);
  return entries.slice(0, most).flatMap(entry => {
    const found = readEntry(entry);
    if (found === undefined) return [];
    if (names.has(found.name)) {
      const what = key === 'hosts' ? 'host' : 'provider';
      const text = `${what} ${found.name} is defined twice; rename one`;
      context.problem({ offset: entry.offset, code: 'duplicate-definition', text });
    }
    names.add(found.name);
    return [found];
  });
}

function readLimits(read: MappingReader, context: ParseContext): ReadonlyMap<string, number> {
  const limits = read.mapping('tenant-limits');
  if (limits === undefined) return new Map();
  const inner = mappingReader(limits, 'tenant-limits', context);
  return new Map(
    inner.rest().flatMap(tenant => {
      const most = inner.integer(tenant, { min: 0 });
      return most === undefined ? [] : [[tenant, most] as const];
    }),
  );
}

function readHost(
  entry: YamlNode,
  commonKey: string | undefined,
  context: ParseContext,
): StaticHost | undefined {
  if (entry.kind !== 'mapping') {
    const text = `a host is ${describeNode(entry)}; it must be a mapping`;
    context.problem({ offset: entry.offset, code: 'wrong-type', text });
    return undefined;
  }
  const read = mappingReader(entry, subjectOf(entry), context);
  const name = named(read, 'name', isNodeName, 'use letters, digits, ".", "_" and "-"');
  const given = read.string('address') ?? name;
  const address = given === undefined || ADDRESS.test(given) ? given : refused(read, 'address', given);
  const port = read.integer('port', { min: 1, max: 65_535 }) ?? 22;
  const username = named(read, 'username', text => USER.test(text), 'use a login name', 'zuul');
  const hostKeys = readHostKeys(read);
  const privateKey = read.string('private-key') ?? commonKey;
  if (privateKey === undefined)
    read.refuse(
      entry.offset,
      'missing-key',
      `${subjectOf(entry)} lacks "private-key", and the file has none`,
    );
  else if (!privateKey.startsWith('/')) refused(read, 'private-key', privateKey);
  const maxParallelJobs = read.integer('max-parallel-jobs', { min: 1, max: MOST_JOBS }) ?? 1;
  const labels = read.names('labels')?.map(label => label.name) ?? [];
  if (labels.length === 0)
    read.refuse(read.offsetOf('labels'), 'missing-key', `${subjectOf(entry)} has no labels`);
  const zone = readZone(read);
  const pythonPath = read.string('python-path');
  const variables = readVariables(read);
  read.finish();
  if (name === undefined || address === undefined || username === undefined) return undefined;
  const [first, ...others] = hostKeys;
  if (privateKey === undefined || first === undefined) return undefined;
  return {
    ...{ name, address, port, username, hostKeys: [first, ...others], privateKey, maxParallelJobs, labels },
    ...(zone === undefined ? {} : { zone }),
    ...(pythonPath === undefined || pythonPath === 'auto' ? {} : { pythonPath }),
    ...(variables === undefined ? {} : { variables }),
  };
}

/** Both become words of ssh's configuration. */
const ADDRESS = /^[A-Za-z0-9][A-Za-z0-9.:_%-]{0,252}$/;
const USER = /^[A-Za-z0-9_][A-Za-z0-9_.@-]{0,99}$/;

function subjectOf({ entries }: YamlMapping): string {
  const name = entries.get('name')?.value;
  return name?.kind === 'scalar' ? `host ${name.text}` : 'a host';
}

function named(
  read: MappingReader,
  key: string,
  isGood: (text: string) => boolean,
  advice: string,
  fallback?: string,
): string | undefined {
  const value = fallback === undefined ? read.required(key) : (read.string(key) ?? fallback);
  if (value === undefined || isGood(value)) return value;
  read.refuse(read.offsetOf(key), 'invalid-name', `"${value}" cannot be the ${key} of a host; ${advice}`);
  return undefined;
}

function refused(read: MappingReader, key: string, value: string): undefined {
  const wanted = key === 'address' ? 'a host name or an IP address' : 'an absolute path';
  read.refuse(read.offsetOf(key), 'wrong-type', `${key} is "${value}"; it must be ${wanted}`);
}

/** By nothing else is the host known. */
function readHostKeys(read: MappingReader): readonly string[] {
  const given = read.names('host-key') ?? [];
  if (given.length === 0)
    read.refuse(
      read.offsetOf('host-key'),
      'missing-key',
      'a host needs its public key, "host-key": take it from ssh-keyscan and compare it with the host',
    );
  return given.flatMap(({ name, offset }) => {
    const key = parseHostKey(name);
    if (key !== undefined) return [key.text];
    read.refuse(offset, 'wrong-type', 'host-key is no public key such as "ssh-ed25519 AAAAC3Nza…"');
    return [];
  });
}
