/**
 * The variables of a build's files of `include-vars`, in their order, over what its parents returned; the job's own win over both.
 *
 * A file may be anything that a repository has at its path: it is read within bounds, below the root of its project also after every symbolic link
 * is followed, and as PyYAML reads YAML.
 */
import { realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { boolYaml11Tag, loadAll, NOT_RESOLVED, YAML11_SCHEMA } from 'js-yaml';
import type { BuildRequest, BuildVarsFile } from '../model/build-request.ts';
import type { Json, Variables } from '../model/job.ts';
import { isVariables, mergeVars } from '../model/merge-vars.ts';
import { reservedVariable } from '../model/reserved-variables.ts';
import { openPlainFile } from './open-plain-file.ts';
import type { Workspace } from './workspace.ts';

/** `refused` ends the build with ERROR: one line for the author of the job. */
export type IncludedVars =
  | { readonly kind: 'vars'; readonly vars: Variables }
  | { readonly kind: 'refused'; readonly reason: string };

const MOST_BYTES = 262_144;
const MOST_VALUES = 50_000;
const DEEPEST = 50;

/** PyYAML's: `yes` and `on` are booleans, but `y` and `n` are texts. */
const SCHEMA = YAML11_SCHEMA.withTags({
  ...boolYaml11Tag,
  resolve: (source, ...more) =>
    /^[yn]$/i.test(source) ? NOT_RESOLVED : boolYaml11Tag.resolve(source, ...more),
});

/** What holds below the job's own variables. @throws an error of the file system. */
export async function includedVars(
  { parentData = {}, includeVars = [] }: Pick<BuildRequest, 'parentData' | 'includeVars'>,
  workspace: Pick<Workspace, 'treeOf'>,
): Promise<IncludedVars> {
  let vars: Variables = parentData;
  for (const file of includeVars) {
    const name = `${file.canonicalName}/${file.path}`;
    const read = await textOf(file, workspace.treeOf(file).host);
    if (read === undefined) {
      if (file.optional === true) continue;
      return { kind: 'refused', reason: `variables file ${name} does not exist at commit ${file.commit}` };
    }
    const found = typeof read === 'string' ? parseVariables(read) : read;
    if ('problem' in found) return { kind: 'refused', reason: `variables file ${name} ${found.problem}` };
    vars = mergeVars(vars, found.vars);
  }
  return { kind: 'vars', vars };
}

interface Problem {
  readonly problem: string;
}

/** Undefined: there is no such file. */
async function textOf({ path }: BuildVarsFile, tree: string): Promise<string | undefined | Problem> {
  const place = await placeOf(join(tree, path));
  if (place === undefined) return undefined;
  const root = await realpath(tree);
  if (!place.startsWith(root + sep)) return { problem: 'leads out of its project by a symbolic link' };
  if (place.startsWith(join(root, '.git') + sep)) return { problem: 'lies in .git' };
  const file = await openPlainFile(place);
  if (file === undefined) return { problem: 'is not a file' };
  try {
    if ((await file.stat()).size > MOST_BYTES) return { problem: `is longer than ${MOST_BYTES} bytes` };
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}

/** With every link followed; undefined: there is nothing. */
async function placeOf(path: string): Promise<string | undefined> {
  try {
    return await realpath(path);
  } catch (error) {
    if (error instanceof Error && 'code' in error && ABSENT.has(String(error.code))) return undefined;
    throw error;
  }
}

/** What a repository can bring about; any other error is one of the machine. */
const ABSENT: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG']);

/** @returns a problem as the rest of a sentence about the file. */
export function parseVariables(text: string): { readonly vars: Variables } | Problem {
  let documents: readonly unknown[];
  try {
    documents = loadAll(text, { schema: SCHEMA });
  } catch (error) {
    const [line = ''] = error instanceof Error ? error.message.split('\n') : [];
    return { problem: `is no YAML: ${line}` };
  }
  const [value = null, ...more] = documents;
  if (more.length > 0) return { problem: 'holds several documents' };
  if (value === null) return { vars: {} };
  const budget = { values: MOST_VALUES };
  const plain = plainJson(value, budget, 0);
  if (plain === undefined)
    return {
      problem: `holds more than ${MOST_VALUES} values, deeper ones than ${DEEPEST} levels, or what is no text, number, list or mapping`,
    };
  if (!isVariables(plain)) return { problem: 'is not a mapping' };
  const refused = Object.keys(plain).find(name => reservedVariable(name) !== undefined);
  if (refused !== undefined) return { problem: `sets ${refused}, which ${reservedVariable(refused)}` };
  return { vars: plain };
}

/** Aliases are expanded, within the budget. Undefined: it cannot be data of JSON. */
function plainJson(value: unknown, budget: { values: number }, depth: number): Json | undefined {
  if (--budget.values < 0 || depth > DEEPEST) return undefined;
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) {
    const items: Json[] = [];
    for (const each of value) {
      const plain = plainJson(each, budget, depth + 1);
      if (plain === undefined) return undefined;
      items.push(plain);
    }
    return items;
  }
  if (typeof value !== 'object' || Object.getPrototypeOf(value) !== Object.prototype) return undefined;
  const entries: [string, Json][] = [];
  for (const [name, each] of Object.entries(value)) {
    const plain = plainJson(each, budget, depth + 1);
    if (plain === undefined) return undefined;
    entries.push([name, plain]);
  }
  return Object.fromEntries(entries);
}
