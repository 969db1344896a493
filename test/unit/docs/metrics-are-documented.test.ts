/** The reference of the metrics has exactly those there are, with their types and labels, and its queries name no others. */
import { load } from 'js-yaml';
import { describe, expect, test } from 'vitest';
import { METRICS, type MetricDefinition } from '../../../src/metrics/metric-table.ts';
import { sectionOf, textOf } from './repository-text.ts';

const REFERENCE = textOf('doc/reference/metrics.md');

function shownName(name: string, { kind }: MetricDefinition): string {
  return kind === 'counter' ? `${name}_total` : name;
}

const DEFINED = new Map<string, MetricDefinition>(
  Object.entries(METRICS).map(([name, definition]) => [shownName(name, definition), definition]),
);

interface Rule {
  readonly expr: string;
  readonly annotations: { readonly summary: string };
}

const RULES = (
  load(textOf('etc/prometheus/gatehouse.rules.yaml')) as {
    readonly groups: readonly { readonly rules: readonly Rule[] }[];
  }
).groups.flatMap(({ rules }) => rules);

const DASHBOARD: {
  readonly panels: readonly {
    readonly id: number;
    readonly targets?: readonly { readonly expr: string }[];
  }[];
  readonly templating: { readonly list: readonly { readonly type: string; readonly query: string }[] };
} = JSON.parse(textOf('etc/grafana/gatehouse.json'));

describe('metrics.md', () => {
  test('explains exactly the metrics there are, with type and labels', () => {
    const rows = [
      ...sectionOf(REFERENCE, 'Every metric').matchAll(/^\| `(\w+)` \| (\w+) \| ([^|]*)\| ([^|]+)\|$/gm),
    ].map(([, name, kind, labels = '']) => [
      name,
      kind,
      [...labels.matchAll(/`(\w+)`/g)].map(([, label]) => label).sort(),
    ]);
    const defined = [...DEFINED].map(([name, { kind, labels }]) => [name, kind, [...labels].sort()]);
    expect(rows).toEqual(defined);
  });

  test('has queries over metrics and labels that there are', () => {
    const queries = sectionOf(REFERENCE, 'Questions and queries')
      .split('\n')
      .filter(line => line.startsWith('    '))
      .join('\n');
    expect(checkedNames(queries).length).toBeGreaterThan(8);
  });

  test('has each alarm among the rules for Prometheus', () => {
    const alarms = sectionOf(REFERENCE, 'Questions and queries').split('**Alarms worth having**')[1] ?? '';
    const wanted = [...alarms.matchAll(/^ {4}(.*)$/gm)].map(([, expression]) => expression);
    expect(wanted.length).toBeGreaterThan(4);
    expect(RULES.map(({ expr }) => expr)).toEqual(expect.arrayContaining(wanted));
  });
});

describe('files for other programs', () => {
  test('the rules for Prometheus are over metrics and labels that there are', () => {
    for (const { expr } of RULES) expect(checkedNames(expr).length, expr).toBeGreaterThan(0);
    for (const { annotations } of RULES) expect(annotations.summary).not.toBe('');
  });

  test('the dashboard for Grafana is over metrics and labels that there are', () => {
    const expressions = DASHBOARD.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
    expect(expressions.length).toBeGreaterThan(15);
    for (const expression of expressions)
      expect(checkedNames(expression).length, expression).toBeGreaterThan(0);
    for (const { query } of DASHBOARD.templating.list.filter(({ type }) => type === 'query'))
      expect(checkedNames(query).length, query).toBeGreaterThan(0);
    const ids = DASHBOARD.panels.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });
});

/** Labels that Prometheus adds, and those of histograms. */
const OF_PROMETHEUS = ['instance', 'le'];

/** The names of metrics in an expression, which exist and have the labels it names. */
function checkedNames(expression: string): readonly string[] {
  const used = [...expression.matchAll(/\b((?:gatehouse|cicd)_\w+)(?:\{([^}]*)\})?/g)];
  const labels = new Set(OF_PROMETHEUS);
  for (const [, name = '', selector = ''] of used) {
    const definition = DEFINED.get(name) ?? DEFINED.get(name.replace(/_(bucket|sum|count)$/, ''));
    expect(definition, name).toBeDefined();
    for (const label of definition?.labels ?? []) labels.add(label);
    for (const [, label = ''] of selector.matchAll(/(\w+)=/g))
      expect(definition?.labels, `${name}{${label}}`).toContain(label);
  }
  for (const [, grouped = ''] of expression.matchAll(/\bby \(([^)]*)\)/g))
    for (const label of grouped.split(/,\s*/)) expect([...labels], expression).toContain(label);
  return used.map(([, name = '']) => name);
}
