/** The Helm chart fits the program, its settings and its documentation. Without Helm: `npm run test:helm` renders it. */
import { Ajv } from 'ajv';
import { load, YAML11_SCHEMA } from 'js-yaml';
import { describe, expect, test } from 'vitest';
import { showOptionProblem } from '../../../src/lib/option-reader.ts';
import { parseSettings } from '../../../src/settings/parse-settings.ts';
import { filesBelow, sectionOf, textOf } from './repository-text.ts';

const CHART = 'etc/helm/gatehouse';
const yaml = (file: string) => load(textOf(`${CHART}/${file}`), { schema: YAML11_SCHEMA });
const templates = filesBelow(`${CHART}/templates`, '')
  .filter(file => /\.(tpl|yaml|txt)$/.test(file))
  .map(file => textOf(file))
  .join('\n');
const helpers = textOf(`${CHART}/templates/_helpers.tpl`);
const values = yaml('values.yaml') as Readonly<Record<string, unknown>>;
const dockerfile = textOf('Dockerfile');

test('its versions are those of the program', () => {
  const { version } = JSON.parse(textOf('package.json'));
  expect(yaml('Chart.yaml')).toMatchObject({ version, appVersion: version });
});

describe('values', () => {
  const judge = new Ajv({ strict: false }).compile(JSON.parse(textOf(`${CHART}/values.schema.json`)));
  const cases = filesBelow(`${CHART}/ci`, '.yaml');

  test('that are the defaults, or tests, fit the schema, and a misspelled one does not', () => {
    expect(cases.length).toBeGreaterThan(2);
    for (const file of [`${CHART}/values.yaml`, ...cases]) {
      const given = load(textOf(file), { schema: YAML11_SCHEMA });
      expect([file, judge(given), judge.errors]).toEqual([file, true, null]);
      expect(judge({ ...Object(given), distrbuted: true })).toBe(false);
    }
  });

  test('are those that the schema names, and templates use each of them', () => {
    const { properties } = JSON.parse(textOf(`${CHART}/values.schema.json`));
    const { global: _, ...named } = properties;
    expect(Object.keys(named).sort()).toEqual(Object.keys(values).sort());
    // Those of kinds of pods are looked up by the names that `gatehouse.kinds` lists.
    const kinds = [...helpers.matchAll(/^(?:[a-z-]+): (\w+)$/gm)].map(([, name]) => name);
    expect(kinds).toEqual(['scheduler', 'merger', 'executor', 'web', 'allInOne']);
    for (const name of Object.keys(values))
      expect([name, kinds.includes(name) || templates.includes(`.Values.${name}`)]).toEqual([name, true]);
    for (const [, path = ''] of templates.matchAll(/\.Values\.([A-Za-z]+(?:\.[A-Za-z]+)?)/g))
      expect([path, valueAt(path) !== undefined]).toEqual([path, true]);
  });
});

function valueAt(path: string): unknown {
  return path.split('.').reduce<unknown>((value, key) => Object(value)[key], values);
}

describe('gatehouse.conf', () => {
  /** `"section" (dict "option" value …)` of the settings that the chart makes itself. */
  const own = [...helpers.matchAll(/"(\w+)" \(dict ((?:"\w+" (?:"[^"]*"|\d+|\([^()]*\)) ?)+)\)/g)].map(
    ([, section = '', options = '']) => ({
      section,
      options: [...options.matchAll(/"(\w+)" ("[^"]*"|\d+|\([^()]*\))/g)].map(
        ([, option = '', value = '']) => ({
          option,
          value: value.startsWith('(') ? 'http://gate.example.org' : value.replaceAll('"', ''),
        }),
      ),
    }),
  );

  test('has sections and options that there are', () => {
    expect(own.map(({ section }) => section).sort()).toEqual([
      'executor',
      'metrics',
      'nodes',
      'scheduler',
      'web',
    ]);
    const text = own.map(
      ({ section, options }) =>
        `[${section}]\n${options.map(({ option, value }) => `${option} = ${value}\n`).join('')}`,
    );
    const parsed = parseSettings({
      content: Buffer.from(`${text.join('')}[zookeeper]\nhosts = zk\n`),
      file: 'gatehouse.conf',
      directory: '/etc/gatehouse',
      environment: { GATEHOUSE_POD_IP: '10.0.0.7', GATEHOUSE_LOG_TOKEN: 'x'.repeat(40) },
    });
    if (parsed.kind === 'invalid') throw new Error(parsed.problems.map(showOptionProblem).join('\n'));
    const { web, metrics, executor, scheduler } = parsed.settings;
    const ports = [...helpers.matchAll(/containerPort: (\d+)/g)].map(([, port]) => Number(port));
    expect(ports).toEqual([web.port, executor.logServer?.port, metrics?.port]);
    const mounts = [...helpers.matchAll(/mountPath: (\S+)/g)].map(([, path]) => path);
    expect(mounts).toContain(scheduler.stateDir);
  });
});

test('pods run as the image’s user, in what the image has', () => {
  const user = Number(/^USER (\d+)$/m.exec(dockerfile)?.[1]);
  expect(values).toMatchObject({ podSecurityContext: { runAsUser: user, runAsGroup: user, fsGroup: user } });
  expect(dockerfile).toMatch(/ENTRYPOINT \["tini", "-s", "--", "gatehouse"\]/);
  expect(helpers).toMatch(/args:\n\s+- start\n/);
});

test('probes ask for what the reference has', () => {
  const asked = [...helpers.matchAll(/"(\/health\/\w+)"|path: (\/health\/\w+)/g)].map(([, a, b]) => a ?? b);
  expect(new Set(asked)).toEqual(new Set(['/health/live', '/health/ready']));
  const reference = textOf('doc/reference/http-api.md');
  for (const path of asked) expect(reference).toContain(`\`GET ${path}\``);
});

test('executors get the rights that making pods needs, and no more', () => {
  const guide = sectionOf(textOf('doc/guide/operations.md'), 'Pods for jobs');
  const written = guide.matchAll(/apiGroups: \[""\], resources: \[([a-z/, ]+)\], verbs: \[([a-z, ]+)\]/g);
  const rules = templates.matchAll(
    /apiGroups: \[""\]\n\s+resources: \[([a-z/, ]+)\]\n\s+verbs: \[([a-z, ]+)\]/g,
  );
  const sorted = (text = '') => text.split(', ').toSorted();
  const needed = [...written].map(([, resources, verbs]) => [resources, sorted(verbs)]);
  expect(needed.length).toBeGreaterThan(1);
  expect([...rules].map(([, resources, verbs]) => [resources, sorted(verbs)])).toEqual(needed);
});

test('the guide names values that there are', () => {
  const guide = textOf('doc/guide/kubernetes.md');
  const named = [
    ...guide.matchAll(/--set ([A-Za-z]+)[.=]/g),
    ...guide.matchAll(/^([a-z][A-Za-z]+):(?: |$)/gm),
  ];
  expect(named.length).toBeGreaterThan(8);
  for (const [, name = ''] of named) expect([name, name in values]).toEqual([name, true]);
});
