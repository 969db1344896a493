/** The reference of the metrics has exactly those there are, with their types and labels, and its queries name no others. */
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
    const used = [...queries.matchAll(/\b((?:gatehouse|cicd)_\w+)(?:\{([^}]*)\})?/g)];
    expect(used.length).toBeGreaterThan(8);
    for (const [, name = '', selector = ''] of used) {
      const definition = DEFINED.get(name) ?? DEFINED.get(name.replace(/_(bucket|sum|count)$/, ''));
      expect(definition, name).toBeDefined();
      for (const [, label = ''] of selector.matchAll(/(\w+)=/g))
        expect(definition?.labels, `${name}{${label}}`).toContain(label);
    }
  });
});
