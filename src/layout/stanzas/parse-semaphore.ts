/** `semaphore:` stanzas, those of the tenant file, and the names that jobs list. */
import type { JobSemaphore } from '../../model/semaphore.ts';
import { type MappingReader, mappingReader } from '../reading/mapping-reader.ts';
import type { ParseContext } from '../reading/parse-context.ts';
import type { YamlMapping, YamlNode } from '../yaml/yaml-node.ts';
import type { SemaphoreStanza } from './stanzas.ts';

/** Builds that may hold a name of which no configuration says more. */
export const USUAL_MAX = 1;
/** Each is a directory of the store, and a job that has many of them rarely starts. */
const MOST_OF_A_JOB = 50;
/** A name is a path segment of the store. */
const LONGEST_NAME = 200;

/** @returns undefined without a name; the stanza is then broken. */
export function parseSemaphore(
  value: YamlMapping,
  offset: number,
  context: ParseContext,
): SemaphoreStanza | undefined {
  const read = mappingReader(value, 'semaphore', context);
  const semaphore = readSemaphore(read);
  read.finish();
  return semaphore === undefined ? undefined : { kind: 'semaphore', offset, ...semaphore };
}

/** Name and `max` of either kind. */
export function readSemaphore(
  read: MappingReader,
): { readonly name: string; readonly max: number } | undefined {
  const name = read.required('name');
  const max = read.integer('max', { min: 1 }) ?? USUAL_MAX;
  if (name !== undefined && !isName(name)) read.refuse(read.offsetOf('name'), 'invalid-name', nameText(name));
  return name === undefined ? undefined : { name, max };
}

/** `semaphores` of a job, or its older name `semaphore`: names, or mappings with a name. The newer one counts. Sorted, each once. */
export function parseJobSemaphores(
  read: MappingReader,
  subject: string,
  context: ParseContext,
): readonly JobSemaphore[] | undefined {
  const [older, newer] = [read.list('semaphore'), read.list('semaphores')];
  const nodes = newer ?? older;
  if (nodes === undefined) return undefined;
  if (nodes.length > MOST_OF_A_JOB) {
    const key = newer === undefined ? 'semaphore' : 'semaphores';
    const text = `${subject} has ${nodes.length} semaphores; it may have ${MOST_OF_A_JOB}`;
    read.refuse(read.offsetOf(key), 'out-of-range', text);
  }
  return joinedSemaphores(nodes.flatMap(node => jobSemaphore(node, subject, context) ?? []));
}

/** `semaphores` of a playbook: names. Sorted, each once. */
export function parsePlaybookSemaphores(
  read: MappingReader,
  subject: string,
  context: ParseContext,
): readonly string[] {
  const names = read.names('semaphores') ?? [];
  if (names.length > MOST_OF_A_JOB) {
    const text = `a playbook in ${subject} has ${names.length} semaphores; it may have ${MOST_OF_A_JOB}`;
    read.refuse(read.offsetOf('semaphores'), 'out-of-range', text);
  }
  for (const { name, offset } of names)
    if (!isName(name)) context.problem({ offset, code: 'invalid-name', text: nameText(name) });
  return [...new Set(names.map(({ name }) => name))].toSorted();
}

/** Names that the job and one of its playbooks have. */
export function semaphoresOfBoth(
  ofJob: readonly JobSemaphore[],
  playbooks: readonly { readonly semaphores?: readonly string[] }[],
): readonly string[] {
  const held = new Set(playbooks.flatMap(({ semaphores = [] }) => semaphores));
  return ofJob.map(({ name }) => name).filter(name => held.has(name));
}

/** @param names at least one. */
export function semaphoreOfBothText(job: string, names: readonly string[]): string {
  return `job ${job} and one of its playbooks have the same semaphore (${names.join(', ')}), for which the playbook would wait for its own build; keep one of the two`;
}

/** By name; one that waits for its resources first anywhere does so. */
export function joinedSemaphores(all: readonly JobSemaphore[]): readonly JobSemaphore[] {
  const byName = new Map<string, JobSemaphore>();
  for (const semaphore of all)
    if (byName.get(semaphore.name)?.resourcesFirst !== true) byName.set(semaphore.name, semaphore);
  return [...byName.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function jobSemaphore(node: YamlNode, subject: string, context: ParseContext): JobSemaphore | undefined {
  const refuse = (code: string, text: string) => context.problem({ offset: node.offset, code, text });
  if (node.kind === 'mapping') {
    const read = mappingReader(node, `a semaphore of ${subject}`, context);
    const name = read.required('name');
    const resourcesFirst = read.boolean('resources-first') ?? false;
    read.finish();
    if (name !== undefined && !isName(name)) refuse('invalid-name', nameText(name));
    return name === undefined ? undefined : { name, ...(resourcesFirst ? { resourcesFirst } : {}) };
  }
  if (node.kind !== 'scalar' || node.value === null || node.text === '') {
    refuse('wrong-type', `semaphores of ${subject} must be names or mappings with a name`);
    return undefined;
  }
  if (!isName(node.text)) refuse('invalid-name', nameText(node.text));
  return { name: node.text };
}

function isName(name: string): boolean {
  return name.isWellFormed() && encodeURIComponent(name).length <= LONGEST_NAME;
}

function nameText(name: string): string {
  return `${JSON.stringify(name.slice(0, 40))} is no name for a semaphore: it is longer than ${LONGEST_NAME} characters, or not well-formed Unicode`;
}
