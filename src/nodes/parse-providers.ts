/**
 * The providers of `nodes.yaml`, which make a node for a build and delete it with the build. There is one driver:
 *
 *     providers:
 *       - name: cluster
 *         driver: kubernetes
 *         kubeconfig: /etc/gatehouse/kubeconfig
 *         namespace: jobs
 *         max-pods: 20
 *         labels:
 *           - {name: pod-debian, type: pod, image: "debian:13", cpu: 2, memory: 2048}
 */
import { type MappingReader, mappingReader } from '../layout/reading/mapping-reader.ts';
import type { ParseContext } from '../layout/reading/parse-context.ts';
import { describeNode, type YamlMapping, type YamlNode } from '../layout/yaml/yaml-node.ts';
import type { KubernetesPool, PodTemplate } from '../model/kubernetes-pool.ts';
import { isNodeName, readVariables, readZone } from './read-node-facts.ts';

const MOST_LABELS = 1000;
const MOST_PODS = 10_000;
/** Seconds. */
const DEFAULT_START = 600;
const LONGEST_START = 86_400;
/** Mebibytes: a pebibyte. */
const MOST_MEMORY = 2 ** 30;
const MOST_CPU = 1_000_000;

/** Undefined: what is wrong with it is a problem of the context now. */
export function readPool(entry: YamlNode, context: ParseContext): KubernetesPool | undefined {
  const read = readerOf(entry, 'provider', context);
  if (read === undefined) return undefined;
  const name = nameIn(read);
  const driver = read.oneOf('driver', ['kubernetes']);
  if (!read.has('driver'))
    read.refuse(read.offsetOf('driver'), 'missing-key', 'a provider lacks "driver"; there is: kubernetes');
  const kubeconfig = read.string('kubeconfig');
  if (kubeconfig !== undefined && !kubeconfig.startsWith('/'))
    read.refuse(
      read.offsetOf('kubeconfig'),
      'wrong-type',
      `kubeconfig is "${kubeconfig}"; it must be an absolute path`,
    );
  const context_ = read.string('context');
  if (context_ !== undefined && kubeconfig === undefined)
    read.refuse(
      read.offsetOf('context'),
      'missing-key',
      'context names an entry of a kubeconfig, and there is none; add "kubeconfig"',
    );
  const namespace = matching(read, 'namespace', NAMESPACE, 'a name of a namespace');
  const limits = {
    maxParallelJobs: read.integer('max-pods', { min: 1, max: MOST_PODS }) ?? 10,
    startTimeout: (read.integer('start-timeout', { min: 1, max: LONGEST_START }) ?? DEFAULT_START) * 1000,
    ...optionally('maxCpu', cpuIn(read, 'max-cpu')),
    ...optionally('maxMemory', read.integer('max-memory', { min: 1, max: MOST_MEMORY })),
  };
  const zone = readZone(read);
  const pods = readLabels(read, limits, context);
  read.finish();
  if (name === undefined || driver === undefined) return undefined;
  return {
    name,
    ...optionally('zone', zone),
    ...optionally('kubeconfig', kubeconfig),
    ...optionally('context', context_),
    ...optionally('namespace', namespace),
    ...limits,
    labels: [...pods.keys()],
    pods: Object.fromEntries(pods),
  };
}

type Limits = Pick<KubernetesPool, 'maxCpu' | 'maxMemory'>;

function readLabels(
  read: MappingReader,
  limits: Limits,
  context: ParseContext,
): ReadonlyMap<string, PodTemplate> {
  const entries = read.list('labels') ?? [];
  if (entries.length === 0 || entries.length > MOST_LABELS)
    read.refuse(
      read.offsetOf('labels'),
      entries.length === 0 ? 'missing-key' : 'out-of-range',
      `a provider needs "labels", from 1 to ${MOST_LABELS}`,
    );
  const labels = new Map<string, PodTemplate>();
  for (const entry of entries.slice(0, MOST_LABELS)) {
    const found = readLabel(entry, limits, context);
    if (found === undefined) continue;
    if (labels.has(found.name)) {
      const text = `label ${found.name} is defined twice in a provider; rename one`;
      context.problem({ offset: entry.offset, code: 'duplicate-definition', text });
    }
    labels.set(found.name, found.pod);
  }
  return labels;
}

function readLabel(
  entry: YamlNode,
  { maxCpu, maxMemory }: Limits,
  context: ParseContext,
): { readonly name: string; readonly pod: PodTemplate } | undefined {
  const read = readerOf(entry, 'label', context);
  if (read === undefined) return undefined;
  const name = read.required('name');
  refuseNamespaces(read);
  const image = read.required('image');
  if (image !== undefined && !IMAGE.test(image))
    read.refuse(read.offsetOf('image'), 'wrong-type', `image is "${image}"; it must be a container image`);
  const pullPolicy = read.oneOf('image-pull', ['Always', 'IfNotPresent', 'Never']) ?? 'IfNotPresent';
  const cpu = cpuIn(read, 'cpu');
  const memory = read.integer('memory', { min: 1, max: MOST_MEMORY });
  needsSize(read, 'cpu', cpu, maxCpu);
  needsSize(read, 'memory', memory, maxMemory);
  const pullSecrets = read.names('image-pull-secrets')?.map(secret => secret.name);
  const nodeSelector = readSelector(read, context);
  const privileged = read.boolean('privileged');
  const pythonPath = read.string('python-path');
  const variables = readVariables(read);
  read.finish();
  if (name === undefined || image === undefined) return undefined;
  return {
    name,
    pod: {
      ...{ image, pullPolicy },
      ...optionally('cpu', cpu),
      ...optionally('memory', memory),
      ...optionally('pullSecrets', pullSecrets),
      ...optionally('nodeSelector', nodeSelector),
      ...(privileged === true ? { privileged } : {}),
      ...optionally('pythonPath', pythonPath === 'auto' ? undefined : pythonPath),
      ...optionally('variables', variables),
    },
  };
}

/** Nodepool's other type gives a job the keys of a namespace; see decision 0330. */
function refuseNamespaces(read: MappingReader): void {
  if (read.oneOf('type', ['pod', 'namespace']) !== 'namespace') return;
  const text = 'labels of the type "namespace" are not supported yet; use "pod"';
  read.refuse(read.offsetOf('type'), 'not-supported', text);
}

/** What has a limit in all must say how much of it each pod takes. */
function needsSize(
  read: MappingReader,
  key: 'cpu' | 'memory',
  size: number | undefined,
  most: number | undefined,
): void {
  if (most === undefined) return;
  if (size === undefined && !read.has(key))
    read.refuse(
      read.offsetOf(key),
      'missing-key',
      `a label lacks "${key}", which its provider limits with "max-${key}"`,
    );
  else if (size !== undefined && size > most)
    read.refuse(
      read.offsetOf(key),
      'out-of-range',
      `${key} of a label is more than "max-${key}" of its provider`,
    );
}

function readSelector(
  read: MappingReader,
  context: ParseContext,
): { readonly [label: string]: string } | undefined {
  const node = read.mapping('node-selector');
  if (node === undefined) return undefined;
  const inner = mappingReader(node, 'node-selector', context);
  const pairs = inner.rest().flatMap(key => {
    const value = inner.string(key);
    return value === undefined ? [] : [[key, value] as const];
  });
  return Object.fromEntries(pairs);
}

const NAMESPACE = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
/** The registry judges the rest. */
const IMAGE = /^[a-z0-9][^\s]{0,500}$/;
/** Cores, or thousandths of one. */
const CPU = /^(?:(\d{1,6})|(\d{1,9})m)$/;

/** Thousandths of a core. */
function cpuIn(read: MappingReader, key: string): number | undefined {
  const text = read.string(key);
  if (text === undefined) return undefined;
  const [, cores, thousandths] = CPU.exec(text) ?? [];
  const value = cores === undefined ? Number(thousandths ?? 0) : Number(cores) * 1000;
  if (value >= 1 && value <= MOST_CPU * 1000) return value;
  const wanted = 'it must be a number of cores such as 2, or of thousandths such as 500m';
  read.refuse(read.offsetOf(key), 'wrong-type', `${key} is "${text}"; ${wanted}`);
  return undefined;
}

function matching(read: MappingReader, key: string, form: RegExp, wanted: string): string | undefined {
  const value = read.string(key);
  if (value === undefined || form.test(value)) return value;
  read.refuse(read.offsetOf(key), 'wrong-type', `${key} is "${value}"; it must be ${wanted}`);
  return undefined;
}

function nameIn(read: MappingReader): string | undefined {
  const name = read.required('name');
  if (name === undefined || isNodeName(name)) return name;
  const advice = 'use letters, digits, ".", "_" and "-"';
  read.refuse(read.offsetOf('name'), 'invalid-name', `"${name}" cannot be the name of a provider; ${advice}`);
  return undefined;
}

function readerOf(entry: YamlNode, what: string, context: ParseContext): MappingReader | undefined {
  if (entry.kind === 'mapping') return mappingReader(entry, subjectOf(entry, what), context);
  const text = `a ${what} is ${describeNode(entry)}; it must be a mapping`;
  context.problem({ offset: entry.offset, code: 'wrong-type', text });
  return undefined;
}

function subjectOf({ entries }: YamlMapping, what: string): string {
  const name = entries.get('name')?.value;
  return name?.kind === 'scalar' ? `${what} ${name.text}` : `a ${what}`;
}

function optionally<Key extends string, T>(
  key: Key,
  value: T | undefined,
): { readonly [name in Key]?: T } | Record<never, never> {
  return value === undefined ? {} : { [key]: value };
}
