/**
 * `nodes.yaml`: the machines that jobs run on over ssh.
 *
 *     private-key: /etc/gatehouse/nodes-key
 *     tenant-limits: {acme: 10}
 *     outage-limit: 3600
 *     hosts:
 *       - name: web1
 *         address: 10.0.0.5
 *         host-key: ssh-ed25519 AAAAC3Nza…
 *         labels: [debian-12]
 *
 * Any mistake refuses the whole file; the caller keeps the last good one.
 */
import { type MappingReader, mappingReader } from '../layout/reading/mapping-reader.ts';
import { type ParseContext, regexBudget } from '../layout/reading/parse-context.ts';
import { parseYaml, type YamlProblem } from '../layout/yaml/yaml.ts';
import { describeNode, jsonOf, type YamlMapping, type YamlNode } from '../layout/yaml/yaml-node.ts';
import { hintBudget } from '../lib/nearest-name.ts';
import { isZone, ZONE_ADVICE } from '../lib/zone-name.ts';
import type { ConfigError } from '../model/config-error.ts';
import type { Json, Variables } from '../model/job.ts';
import type { NodesFile, StaticHost } from '../model/static-host.ts';
import { parseHostKey } from './host-key.ts';

/** The file, or every mistake in it. */
export type ParsedNodesFile =
  | ({ readonly kind: 'nodes' } & NodesFile)
  | { readonly kind: 'invalid'; readonly errors: readonly [ConfigError, ...ConfigError[]] };

/** All are in one view of every scheduler. */
const MOST_HOSTS = 2000;
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
  const nothing = { hosts: [], tenantLimits: new Map<string, number>(), outageLimit: null };
  if (root?.kind !== 'mapping') {
    const what = root === undefined ? 'empty' : describeNode(root);
    const text = `the file of nodes is ${what}; it must be a mapping with "hosts"`;
    context.problem({ offset: root?.offset ?? 0, code: 'wrong-type', text });
    return nothing;
  }
  const read = mappingReader(root, 'the file of nodes', context);
  const privateKey = read.string('private-key');
  const tenantLimits = readLimits(read, context);
  const outageLimit = read.integer('outage-limit', { min: 0, max: LONGEST_OUTAGE }) ?? DEFAULT_OUTAGE;
  const entries = read.list('hosts') ?? [];
  if (entries.length > MOST_HOSTS)
    read.refuse(read.offsetOf('hosts'), 'out-of-range', `hosts has more than ${MOST_HOSTS} entries`);
  const hosts = new Map<string, StaticHost>();
  for (const entry of entries.slice(0, MOST_HOSTS)) {
    const host = readHost(entry, privateKey, context);
    if (host === undefined) continue;
    if (hosts.has(host.name)) {
      const text = `host ${host.name} is defined twice; rename one`;
      context.problem({ offset: entry.offset, code: 'duplicate-definition', text });
    }
    hosts.set(host.name, host);
  }
  read.finish();
  return {
    hosts: [...hosts.values()],
    tenantLimits,
    outageLimit: outageLimit === 0 ? null : outageLimit * 1000,
  };
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
  const name = named(read, 'name', NAME, 'use letters, digits, ".", "_" and "-"');
  const given = read.string('address') ?? name;
  const address = given === undefined || ADDRESS.test(given) ? given : refused(read, 'address', given);
  const port = read.integer('port', { min: 1, max: 65_535 }) ?? 22;
  const username = named(read, 'username', USER, 'use a login name', 'zuul');
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
  const zone = zoneOfHost(read);
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

const NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$/;
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
  form: RegExp,
  advice: string,
  fallback?: string,
): string | undefined {
  const value = fallback === undefined ? read.required(key) : (read.string(key) ?? fallback);
  if (value === undefined || form.test(value)) return value;
  read.refuse(read.offsetOf(key), 'invalid-name', `"${value}" cannot be the ${key} of a host; ${advice}`);
  return undefined;
}

function refused(read: MappingReader, key: string, value: string): undefined {
  const wanted = key === 'address' ? 'a host name or an IP address' : 'an absolute path';
  read.refuse(read.offsetOf(key), 'wrong-type', `${key} is "${value}"; it must be ${wanted}`);
}

function zoneOfHost(read: MappingReader): string | undefined {
  const zone = read.string('executor-zone');
  if (zone === undefined || isZone(zone)) return zone;
  const text = `"${zone}" cannot be a zone; ${ZONE_ADVICE}`;
  read.refuse(read.offsetOf('executor-zone'), 'invalid-name', text);
  return undefined;
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

/** Of the connection, so `ansible_…` is allowed here: the file is an operator's. */
function readVariables(read: MappingReader): Variables | undefined {
  const node = read.mapping('variables');
  if (node === undefined) return undefined;
  const value: Json = jsonOf(node);
  return value !== null && typeof value === 'object' && !Array.isArray(value)
    ? { ...Object.fromEntries(Object.entries(value)) }
    : undefined;
}
