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
  /** Files of a project's only branch. */
  readonly filesOf: (project: string) => ReadonlyMap<string, string>;
}

/** Drivers of Zuul by the connections of its tests. */
export type ConnectionDrivers = ReadonlyMap<string, string>;

/** @throws Error when the folder is no source tree of Zuul. */
export function fixturesBelow(zuul: string): {
  readonly cases: readonly CompatCase[];
  readonly drivers: ConnectionDrivers;
} {
  const root = path.join(zuul, 'tests/fixtures');
  if (!existsSync(path.join(root, 'config')))
    throw new Error(`${zuul} is no source tree of Zuul: it has no tests/fixtures/config`);
  return { cases: [...tenantCases(root), ...layoutCases(root)], drivers: connectionDrivers(root) };
}

function tenantCases(root: string): readonly CompatCase[] {
  const folders = readdirSync(path.join(root, 'config')).sort();
  return folders.flatMap(folder => {
    const base = path.join(root, 'config', folder);
    if (!statSync(base).isDirectory()) return [];
    return yamlFilesIn(base).flatMap(file => {
      const text = readFileSync(path.join(base, file), 'utf8');
      if (!/^- (tenant|global-semaphore|authorization-rule|admin-rule|api-root):/m.test(text)) return [];
      const filesOf = (project: string) => filesBelow(path.join(base, 'git', project.replaceAll('/', '_')));
      return [{ name: `config/${folder}/${file}`, kind: 'tenants', tenantFile: text, filesOf } as const];
    });
  });
}

function layoutCases(root: string): readonly CompatCase[] {
  return yamlFilesIn(path.join(root, 'layouts'))
    .toSorted()
    .map(file => {
      const text = readFileSync(path.join(root, 'layouts', file), 'utf8');
      const files = new Map([['zuul.yaml', text]]);
      const none: ReadonlyMap<string, string> = new Map();
      return {
        name: `layouts/${file}`,
        kind: 'layout',
        tenantFile: tenantOf(text, driverOf(file)),
        filesOf: project => (project === COMMON_CONFIG ? files : none),
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

function connectionDrivers(root: string): ConnectionDrivers {
  const drivers = new Map<string, string>();
  for (const file of readdirSync(root).filter(name => /^zuul.*\.conf$/.test(name))) {
    const sections = readFileSync(path.join(root, file), 'utf8').split(/^\[/m);
    for (const section of sections) {
      const name = /^connection ["']?([^\]"']+)["']?\]/.exec(section)?.[1];
      const driver = /^driver\s*=\s*(\S+)/m.exec(section)?.[1];
      if (name !== undefined && driver !== undefined && !drivers.has(name)) drivers.set(name, driver);
    }
  }
  return drivers;
}

function yamlFilesIn(folder: string): readonly string[] {
  return readdirSync(folder).filter(name => /\.ya?ml$/.test(name));
}

function filesBelow(folder: string): ReadonlyMap<string, string> {
  if (!existsSync(folder)) return new Map();
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const files = names.filter(name => statSync(path.join(folder, name)).isFile());
  return new Map(files.map(name => [name, readFileSync(path.join(folder, name), 'utf8')]));
}
