/** The searches and links set up for Jaeger ask for what our spans say. `npm run test:jaeger` asks a real one. */
import { load, YAML11_SCHEMA } from 'js-yaml';
import { describe, expect, test } from 'vitest';
import { ATTRIBUTE } from '../../../src/tracing/attributes.ts';
import { textOf } from './repository-text.ts';

interface UiConfig {
  readonly menu: readonly {
    readonly items: readonly { readonly label: string; readonly url: string }[];
  }[];
  readonly linkPatterns: readonly { readonly key: string; readonly url: string; readonly text: string }[];
}

const ui: UiConfig = JSON.parse(textOf('etc/jaeger/ui.json'));
const names = new Set<string>(Object.values(ATTRIBUTE));
const searches = ui.menu.flatMap(({ items }) => items.filter(({ url }) => url.startsWith('/search?')));

describe('etc/jaeger/ui.json', () => {
  test.each(searches)('searches by attributes there are: $label', ({ url }) => {
    const tags: Record<string, unknown> = JSON.parse(
      new URL(url, 'http://jaeger').searchParams.get('tags') ?? '{}',
    );
    expect(Object.keys(tags).length).toBeGreaterThan(0);
    expect(Object.keys(tags).filter(name => !names.has(name))).toEqual([]);
  });

  test.each(ui.linkPatterns)('makes links of attributes there are: $key', ({ key, url }) => {
    const used = [key, ...[...url.matchAll(/#\{([^}]+)\}/g)].map(([, name = '']) => name)];
    expect(used.filter(name => !names.has(name))).toEqual([]);
  });

  test('has the searches the tutorial lists', () => {
    const listed = [...textOf('doc/tutorials/jaeger.md').matchAll(/^\| ([A-Z][^|]*?) \| `\w+`/gm)];
    expect(listed.map(([, label]) => label)).toEqual(searches.map(({ label }) => label));
  });
});

test.each(['memory', 'badger'])(
  'etc/jaeger/%s.yaml takes spans by both protocols where we send them',
  name => {
    const config = load(textOf(`etc/jaeger/${name}.yaml`), { schema: YAML11_SCHEMA }) as {
      readonly receivers: {
        readonly otlp: { readonly protocols: Record<string, { readonly endpoint: string }> };
      };
    };
    const ports = Object.entries(config.receivers.otlp.protocols).map(
      ([protocol, { endpoint }]) => `${protocol} ${endpoint.split(':').at(-1)}`,
    );
    expect(ports).toEqual(['grpc 4317', 'http 4318']);
  },
);
