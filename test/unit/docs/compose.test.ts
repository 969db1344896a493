/** The containers of docker-compose.yml fit the program, its settings, and one another. No container engine is needed to see that. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { load, YAML11_SCHEMA } from 'js-yaml';
import { describe, expect, test } from 'vitest';
import { PROJECTS } from '../../../src/cmd/quickstart/prepare-site.ts';
import { parseTenantFile } from '../../../src/layout/tenant/tenant-file.ts';
import { showOptionProblem } from '../../../src/lib/option-reader.ts';
import { projectIdOf } from '../../../src/model/project.ts';
import { parseSettings } from '../../../src/settings/parse-settings.ts';
import { COMPONENT_KINDS } from '../../../src/store/paths.ts';
import { textOf } from './repository-text.ts';

interface Service {
  readonly image: string;
  readonly build?: string;
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly networks: readonly string[];
  readonly ports?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly restart: string;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly deploy?: { readonly replicas: number };
  readonly profiles?: readonly string[];
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly networks: Readonly<Record<string, { readonly internal?: boolean }>>;
  readonly volumes: Readonly<Record<string, object>>;
}

const compose = load(textOf('docker-compose.yml'), { schema: YAML11_SCHEMA }) as Compose;
const services = Object.entries(compose.services);
const ours = services.filter(([, { image }]) => image === 'gatehouse:local');
const dockerfile = textOf('Dockerfile');
const packages = JSON.parse(textOf('package.json')) as { readonly devDependencies: Record<string, string> };

/** What the Dockerfile copies to make the build, which is `/opt/gatehouse` in the image. */
const COPIED = [...dockerfile.matchAll(/^COPY (?!--from)(.*) \S+$/gm)].flatMap(([, sources = '']) =>
  sources.split(' '),
);

/** `${NAME:-default}` as compose reads it, where the user set nothing. */
function environmentOf(service: Service): Record<string, string> {
  const entries = Object.entries(service.environment ?? {});
  return Object.fromEntries(
    entries.map(([name, value]) => [name, value.replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1')]),
  );
}

/** Where a path of the container is in this repository, by the service's bind mounts. */
function hostPath(service: Service, inside: string): string | undefined {
  for (const volume of service.volumes ?? []) {
    const [host = '', target = ''] = volume.split(':');
    if (host.startsWith('./') && inside.startsWith(`${target}/`))
      return path.join(host, inside.slice(target.length));
  }
  return undefined;
}

function settingsOf(service: Service) {
  const file = 'etc/compose/gatehouse.conf';
  const parsed = parseSettings({
    content: Buffer.from(textOf(file)),
    file,
    directory: '/etc/gatehouse',
    environment: environmentOf(service),
  });
  if (parsed.kind === 'invalid') throw new Error(parsed.problems.map(showOptionProblem).join('\n'));
  return parsed;
}

const web = compose.services.web;
if (web === undefined) throw new Error('there is no web');
const { settings } = settingsOf(web);

/** Those that run the program, and those that run a script of the demo. */
const programs = ours.filter(([, { entrypoint }]) => entrypoint === undefined);
const scripts = ours.filter(([, { entrypoint }]) => entrypoint !== undefined);

describe.each(programs)('container %s', (name, service) => {
  test('runs a component that there is', () => {
    const [command, component, option] = service.command ?? [];
    expect([command, option]).toEqual(['start', '-c']);
    expect(COMPONENT_KINDS).toContain(component);
    expect(component).toBe(name);
  });

  test('has settings and a tenant file where it looks for them', () => {
    expect(existsSync(hostPath(service, service.command?.at(-1) ?? '') ?? '')).toBe(true);
    const parsed = settingsOf(service);
    expect(parsed.warnings).toEqual([]);
    expect(existsSync(hostPath(service, parsed.settings.scheduler.tenantConfig ?? '') ?? '')).toBe(true);
  });

  test('keeps its state in a volume, and waits for store and repositories', () => {
    const targets = service.volumes?.map(volume => volume.split(':').at(volume.startsWith('/') ? 0 : 1));
    expect(targets).toContain(settings.scheduler.stateDir);
    if (name !== 'web') expect(targets).toContain('/srv/git');
    expect(service.depends_on).toMatchObject({
      zookeeper: { condition: 'service_healthy' },
      site: { condition: 'service_completed_successfully' },
    });
    expect(service.restart).toBe('unless-stopped');
  });
});

test.each(scripts)('container %s runs a script of the image', (_, { entrypoint, command }) => {
  const [node, script = ''] = entrypoint ?? [];
  expect(node).toBe('node');
  const program = script.replace('/opt/gatehouse/', '').replace(/\.js$/, '');
  expect(textOf('scripts/build.ts')).toContain(`'${program}'`);
  const source = `${program}.ts`;
  expect(textOf(source)).toContain(`.command('${command?.[0]}')`);
});

test.each(ours)(
  'container %s mounts and joins what is declared, and waits for what is there',
  (_, service) => {
    for (const volume of service.volumes ?? []) {
      const [source = ''] = volume.split(':');
      if (/^\w/.test(source)) expect(compose.volumes).toHaveProperty(source);
    }
    for (const network of service.networks) expect(compose.networks).toHaveProperty(network);
    for (const [other, { condition }] of Object.entries(service.depends_on ?? {})) {
      expect(compose.services).toHaveProperty(other);
      if (condition === 'service_healthy') expect(compose.services[other]?.healthcheck).toBeDefined();
    }
  },
);

describe('the installation', () => {
  test('has an init in its image, which reaps what sandboxes leave behind', () => {
    expect(dockerfile).toMatch(/apt-get install .*[^-]\btini\b/);
    expect(dockerfile).toContain('ENTRYPOINT ["tini", "-s", "--", "gatehouse"]');
  });

  test('has every component, and two schedulers', () => {
    const components = ours.flatMap(([, { command }]) => (command?.[0] === 'start' ? [command[1]] : []));
    expect(components.toSorted()).toEqual([...COMPONENT_KINDS].toSorted());
    expect(compose.services.scheduler?.deploy?.replicas).toBe(2);
  });

  test('publishes the page and the traces, to this machine only, at the ports the settings say', () => {
    const published = services.flatMap(([name, { ports = [] }]) => ports.map(port => [name, port]));
    const traces = settings.tracing.kind === 'on' ? new URL(settings.tracing.uiUrl).port : '';
    expect(published).toEqual([
      ['jaeger', `127.0.0.1:${traces}:16686`],
      ['web', `127.0.0.1:${settings.web.port}:${settings.web.port}`],
    ]);
    expect(settings.web.root).toBe(`http://127.0.0.1:${settings.web.port}`);
    expect(compose.networks.inside?.internal).toBe(true);
    for (const [, { networks, ports }] of services)
      expect(networks.includes('published')).toBe(ports !== undefined);
  });

  test('looks for the store and the collector where they are', () => {
    if (settings.store.kind !== 'zookeeper') throw new Error('it is not on ZooKeeper');
    expect(settings.store.hosts.map(({ host }) => host)).toEqual(['zookeeper']);
    expect(settings.store.hosts.map(({ port }) => port)).toEqual([2181]);
    if (settings.tracing.kind !== 'on') throw new Error('nothing is traced');
    expect(settings.tracing.endpoint).toContain('jaeger:4317');
    expect(web.healthcheck?.test.join(' ')).toContain(`127.0.0.1:${settings.web.port}/health/ready`);
  });

  test('has the projects that are made for it', () => {
    const file = 'etc/compose/tenants.yaml';
    const parsed = parseTenantFile(textOf(file), file, new Map([['local', 'local']]));
    if (parsed.kind !== 'tenants') throw new Error(JSON.stringify(parsed));
    const projects = parsed.tenants.flatMap(tenant =>
      tenant.projects.map(each => projectIdOf(each.project).name),
    );
    expect(projects.toSorted()).toEqual(PROJECTS.map(([project]) => project).toSorted());
  });

  test('names the version of each image that is not built here', () => {
    for (const [, { image, build }] of services)
      expect(build !== undefined || /:\d+\.\d+\.\d+$/.test(image)).toBe(true);
  });
});

describe('the image', () => {
  test('has the Node that is pinned', () => {
    const bases = [...dockerfile.matchAll(/^FROM node:([\d.]+)-/gm)].map(([, version]) => version);
    expect(new Set(bases)).toEqual(new Set([packages.devDependencies.node]));
  });

  test('copies only what there is and what reaches the builder', () => {
    const ignored = textOf('.dockerignore').split('\n');
    expect(COPIED.length).toBeGreaterThan(3);
    for (const source of COPIED) {
      expect(existsSync(source)).toBe(true);
      expect(ignored).toContain(`!${source}`);
    }
  });

  test('holds the build, which the program on the path leads to', () => {
    expect(dockerfile).toContain('RUN node scripts/build.ts /opt/program\n');
    expect(dockerfile).toContain('COPY --from=build /opt/program /opt/gatehouse\n');
    expect(dockerfile).toContain('RUN ln -s /opt/gatehouse/bin/gatehouse.mjs /usr/local/bin/gatehouse ');
  });

  test('does not run as root', () => {
    expect(dockerfile.match(/^USER (\S+)$/gm)?.at(-1)).toMatch(/^USER [1-9]\d*$/);
  });
});
