/**
 * The configuration that Zuul's own tests use, as they use it:
 *
 *     tests/fixtures/config/NAME/*.yaml          tenant files; project acme/app is config/NAME/git/acme_app
 *     tests/fixtures/layouts/*.yaml              files that are the whole configuration of org/common-config
 *     tests/fixtures/zuul*.conf                  which driver a connection has
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { parseYaml } from '../../src/layout/yaml/yaml.ts';
import { jsonOf } from '../../src/layout/yaml/yaml-node.ts';
import type { Json } from '../../src/model/job.ts';

/** One thing to load. */
export interface CompatCase {
  /** Below `tests/fixtures`. */
  readonly name: string;
  readonly kind: 'tenants' | 'layout';
  readonly tenantFile: string;
  /** Files of each project's only branch, by the project's name with `_` for each `/`. */
  readonly projects: { readonly [folder: string]: Files };
}

/** Texts by their paths. */
type Files = { readonly [path: string]: string };

/** A connection of Zuul's tests. */
export interface FixtureConnection {
  readonly driver: string;
  /** Its section of a settings file. */
  readonly section: string;
  /** Of canonical names. */
  readonly host: string | undefined;
}

/** @throws Error when the folder is no source tree of Zuul. */
export function fixturesBelow(zuul: string): {
  readonly cases: readonly CompatCase[];
  /** By name. */
  readonly connections: ReadonlyMap<string, FixtureConnection>;
} {
  const root = path.join(zuul, 'tests/fixtures');
  if (!existsSync(path.join(root, 'config')))
    throw new Error(`${zuul} is no source tree of Zuul: it has no tests/fixtures/config`);
  return { cases: [...tenantCases(root), ...layoutCases(root)], connections: connectionsBelow(root) };
}

/** Of one site: a folder with tenant files, `zuul.conf`, and `git/` with what there is of its repositories, as a folder of the fixtures. */
export function siteIn(base: string): ReturnType<typeof fixturesBelow> {
  return { cases: casesIn(base, path.basename(base)), connections: connectionsIn(base) };
}

/** Of sites of which only this is there. No driver is known of the connections that they name. */
export function tenantFiles(files: readonly string[]): ReturnType<typeof fixturesBelow> {
  const cases = files.map(name => {
    const tenantFile = readFileSync(name, 'utf8');
    return { name, kind: 'tenants', tenantFile, projects: {} } as const;
  });
  const names = cases.flatMap(({ tenantFile }) => sourcesIn(tenantFile));
  const connections = names.map(name => [name, { driver: '', section: '', host: name }] as const);
  return { cases, connections: new Map(connections) };
}

function sourcesIn(tenantFile: string): readonly string[] {
  const yaml = parseYaml(tenantFile);
  const stanzas = yaml.kind === 'invalid' || yaml.root === undefined ? [] : jsonOf(yaml.root);
  return (Array.isArray(stanzas) ? stanzas : []).flatMap(stanza =>
    Object.keys(record(record(record(stanza).tenant).source)),
  );
}

function tenantCases(root: string): readonly CompatCase[] {
  const folders = readdirSync(path.join(root, 'config')).sort();
  return folders.flatMap(folder => {
    const base = path.join(root, 'config', folder);
    return statSync(base).isDirectory() ? casesIn(base, `config/${folder}`) : [];
  });
}

function casesIn(base: string, name: string): readonly CompatCase[] {
  return yamlFilesIn(base).flatMap(file => {
    const text = readFileSync(path.join(base, file), 'utf8');
    if (!/^- (tenant|global-semaphore|authorization-rule|admin-rule|api-root):/m.test(text)) return [];
    return [
      { name: `${name}/${file}`, kind: 'tenants', tenantFile: text, projects: projectsBelow(base) } as const,
    ];
  });
}

function projectsBelow(base: string): CompatCase['projects'] {
  const git = path.join(base, 'git');
  const folders = existsSync(git) ? readdirSync(git) : [];
  return Object.fromEntries(folders.map(folder => [folder, filesBelow(path.join(git, folder))]));
}

function layoutCases(root: string): readonly CompatCase[] {
  return yamlFilesIn(path.join(root, 'layouts'))
    .toSorted()
    .map(file => {
      const text = readFileSync(path.join(root, 'layouts', file), 'utf8');
      return {
        name: `layouts/${file}`,
        kind: 'layout',
        tenantFile: tenantOf(text, driverOf(file)),
        projects: { [COMMON_CONFIG.replace('/', '_')]: { 'zuul.yaml': text } },
      };
    });
}

const COMMON_CONFIG = 'org/common-config';

/** Zuul's tests say it beside each layout; the names of the files follow it. */
function driverOf(file: string): string {
  return ['github', 'gitlab', 'pagure'].find(driver => file.includes(driver)) ?? 'gerrit';
}

function tenantOf(layout: string, connection: string): string {
  const yaml = parseYaml(layout);
  const stanzas = yaml.kind === 'invalid' || yaml.root === undefined ? [] : jsonOf(yaml.root);
  const names = (Array.isArray(stanzas) ? stanzas : []).flatMap(stanza => projectName(stanza) ?? []);
  const projects = [...new Set(names)].filter(name => !name.startsWith('^') && name !== COMMON_CONFIG);
  const source = { [connection]: { 'config-projects': [COMMON_CONFIG], 'untrusted-projects': projects } };
  return JSON.stringify([{ tenant: { name: 'tenant-one', source } }]);
}

function projectName(stanza: Json): string | undefined {
  const project = record(stanza).project;
  const { name } = record(project);
  return typeof name === 'string' ? name : undefined;
}

function record(value: Json | undefined): { readonly [key: string]: Json } {
  return isRecord(value) ? value : {};
}

function isRecord(value: Json | undefined): value is { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function connectionsBelow(root: string): ReadonlyMap<string, FixtureConnection> {
  const found = new Map(connectionsIn(root));
  // Layouts name them, and no settings file of the tests has a section of this name.
  for (const driver of ['gitlab', 'pagure'])
    if (!found.has(driver))
      found.set(driver, {
        driver,
        section: `[connection ${driver}]\ndriver=${driver}\nserver=${driver}\napi_token=none\n`,
        host: undefined,
      });
  return found;
}

/** The first section of each connection. */
function connectionsIn(root: string): ReadonlyMap<string, FixtureConnection> {
  const found = new Map<string, FixtureConnection>();
  for (const file of readdirSync(root)
    .filter(name => /^zuul.*\.conf$/.test(name))
    .sort()) {
    const sections = readFileSync(path.join(root, file), 'utf8').split(/^\[/m);
    for (const section of sections) {
      const name = /^connection ["']?([^\]"']+)["']?\]/.exec(section)?.[1];
      const driver = /^driver\s*=\s*(\S+)/m.exec(section)?.[1];
      if (name !== undefined && driver !== undefined && !found.has(name))
        found.set(name, { driver, section: `[${section}`, host: hostOf(section) });
    }
  }
  return found;
}

function hostOf(section: string): string | undefined {
  const option = (name: string) => new RegExp(`^${name}\\s*=\\s*(\\S+)`, 'm').exec(section)?.[1];
  const base = option('baseurl');
  const server = option('server') ?? (base === undefined ? undefined : URL.parse(base)?.hostname);
  return option('canonical_hostname') ?? server ?? (option('driver') === 'github' ? 'github.com' : undefined);
}

function yamlFilesIn(folder: string): readonly string[] {
  return readdirSync(folder).filter(name => /\.ya?ml$/.test(name));
}

function filesBelow(folder: string): Files {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const files = names.filter(name => statSync(path.join(folder, name)).isFile());
  return Object.fromEntries(files.map(name => [name, readFileSync(path.join(folder, name), 'utf8')]));
}
