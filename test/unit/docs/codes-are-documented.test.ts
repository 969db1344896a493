/** Every code, result, span and route of the sources is explained, and tables name none that is gone. */
import { describe, expect, test } from 'vitest';
import { PROJECT_KEYS } from '../../../src/layout/stanzas/parse-project.ts';
import { STANZA_KINDS } from '../../../src/layout/stanzas/stanzas.ts';
import { ITEM_STATES, isWait, STRETCH_STATES } from '../../../src/model/item-states.ts';
import { REPORT_ACTIONS } from '../../../src/model/pipeline.ts';
import { ALLOWED } from '../../../src/tracing/allowed-attributes.ts';
import { codeSpans, filesBelow, sectionOf, textOf, unionMembers } from './repository-text.ts';

/** First cells of the table rows of a section, as code. */
function firstCells(file: string, heading: string): readonly string[] {
  const body = sectionOf(textOf(file), heading);
  const cells = [...body.matchAll(/^\| ((?:`[^`]+`(?: ✉)?(?:, )?)+) \|/gm)].map(([, cell = '']) => cell);
  return cells.flatMap(cell => [...codeSpans(cell)]).sort();
}

const CODES = 'doc/reference/decisions-and-results.md';
const TRACES = 'doc/guide/traces.md';

describe('decisions-and-results.md', () => {
  test.each([
    ['Decision codes', 'src/model/decision.ts', 'DecisionCode'],
    ['Reset causes', 'src/model/cause.ts', 'ResetCode'],
    ['Why an item left', 'src/model/cause.ts', 'LeaveCode'],
    ['Results of items and buildsets', 'src/model/results.ts', 'BuildSetResult'],
    ['Results of builds', 'src/model/results.ts', 'BuildResult'],
  ])('explains exactly: %s', (heading, file, type) => {
    const members = unionMembers(file, type);
    expect(members.length).toBeGreaterThan(3);
    expect(firstCells(CODES, heading)).toEqual([...members].sort());
  });

  test('has the word of every state of an item', () => {
    const rows = sectionOf(textOf(CODES), 'States of an item').matchAll(/^\| `([a-z-]+)` \| ([^|]+) \|/gm);
    expect([...rows].map(([, state, word]) => [state, word])).toEqual(
      STRETCH_STATES.map(state => [state, ITEM_STATES[state].word]),
    );
  });
});

describe('traces.md', () => {
  test('explains exactly the spans there are', () => {
    expect(firstCells(TRACES, 'Every span')).toEqual([...ALLOWED.keys()].sort());
  });

  test('explains every wait, and those within states of work', () => {
    const states = STRETCH_STATES.filter(isWait);
    expect(states.length).toBeGreaterThan(4);
    expect(firstCells(TRACES, 'Waits, and what to do about them')).toEqual(states.toSorted());
  });

  test('searches only by attributes that exist', () => {
    const known = new Set([...ALLOWED.values()].flatMap(names => [...names.values()]));
    const named = [
      ...sectionOf(textOf(TRACES), 'Searches worth saving').matchAll(
        /\b((?:gatehouse|cicd|vcs)\.[a-z_.]+)=/g,
      ),
    ];
    expect(named.length).toBeGreaterThan(8);
    expect(named.map(([, name = '']) => name).filter(name => !known.has(name))).toEqual([]);
  });
});

describe('http-api.md', () => {
  /** `router.get('/a/:b')`, `.route('/a').post(`, `get(['/', '/t/{*rest}'])` → `GET /a/{b}` with the prefix of its router. */
  function routes(): readonly string[] {
    const found: string[] = [];
    for (const file of filesBelow('src/web', '.ts')) {
      const source = textOf(file);
      const isGlobal = (at: number) =>
        at > source.indexOf('export function addGlobalRoutes') && source.includes('addGlobalRoutes(router');
      for (const match of source.matchAll(
        /\b(router|tenant)\s*\.get(?:<[^(]*>)?\(\s*(\[[^\]]*\]|'[^']*')/g,
      )) {
        const prefix = prefixOf(file, isGlobal(match.index));
        for (const [, path = ''] of (match[2] ?? '').matchAll(/'([^']*)'/g))
          found.push(`GET ${prefix}${path}`);
      }
      for (const [, path = '', method = ''] of source.matchAll(/\.route\('([^']+)'\)\s*\.(post|get)\(/g))
        found.push(`${method.toUpperCase()} /api${path}`);
    }
    return [...new Set(found.map(shown))].sort();
  }

  function prefixOf(file: string, global: boolean): string {
    if (/\/(health-routes|page-routes|metrics-route|openapi-routes)\.ts$/.test(file)) return '';
    if (file.endsWith('/component-routes.ts')) return '/api';
    return global ? '/api' : '/api/tenant/:tenant';
  }

  function shown(route: string): string {
    const named = route
      .replaceAll(/:(\w+)/g, '{$1}')
      .replaceAll(/\/\*(\w+)/g, '/{$1}')
      .replaceAll(/\{\*\w+\}/g, '{...}');
    return named.length > 5 && named.endsWith('/') ? named.slice(0, -1) : named;
  }

  test('lists exactly the routes that are registered', () => {
    const table = textOf('doc/reference/http-api.md').split('\n## ')[0] ?? '';
    const listed = [...codeSpans(table)].filter(span => /^(GET|POST) /.test(span));
    expect(routes().length).toBeGreaterThan(25);
    expect([...listed].sort()).toEqual(routes());
  });
});

describe('configuration-language.md', () => {
  const LANGUAGE = 'doc/reference/configuration-language.md';

  /** Names in the code of a section's tables. */
  function namesIn(heading: string): ReadonlySet<string> {
    return new Set(
      [...codeSpans(sectionOf(textOf(LANGUAGE), heading))].flatMap(span =>
        span.split(/[ ,]+/).map(name => name.replace(/^\./, '')),
      ),
    );
  }

  /** Keys a parser asks its reader for. */
  function keysRead(file: string): readonly string[] {
    const keys = [
      ...textOf(file).matchAll(
        /\bread\.(?:string|required|boolean|integer|oneOf|list|names|matchers|object|mapping|node)\(\s*'([a-z-]+)'/g,
      ),
    ];
    return [...new Set(keys.map(([, key = '']) => key))];
  }

  test('has a section for every kind of stanza', () => {
    for (const kind of STANZA_KINDS) expect(sectionOf(textOf(LANGUAGE), kind).length).toBeGreaterThan(50);
  });

  test.each([
    [
      'job',
      'src/layout/stanzas/parse-job.ts',
      [
        'run',
        'pre-run',
        'post-run',
        'branches',
        'parent',
        'dependencies',
        'required-projects',
        'nodeset',
        'secrets',
      ],
    ],
    ['pipeline', 'src/layout/stanzas/parse-pipeline.ts', ['trigger', 'require', 'reject', ...REPORT_ACTIONS]],
    ['project', 'src/layout/stanzas/parse-project.ts', PROJECT_KEYS],
  ])('names every attribute of a %s', (heading, file, more) => {
    const names = namesIn(heading);
    const wanted = [...new Set([...keysRead(file), ...more])].filter(key => key !== 'regex');
    expect(wanted.length).toBeGreaterThan(8);
    expect(wanted.filter(key => !names.has(key))).toEqual([]);
  });

  test('names everything that is refused as not supported yet', () => {
    const names = namesIn('Not supported yet');
    const refused = filesBelow('src/layout', '.ts').flatMap(file => {
      const source = textOf(file);
      const tables = [
        ...source.matchAll(/const UNSUPPORTED\w* = \[([^\]]*)\]/g),
        ...source.matchAll(/\.unsupported\(\[([^\]]*)\]/g),
      ];
      return tables.flatMap(([, body = '']) =>
        [...body.matchAll(/'([a-z-]+)'/g)].map(([, name = '']) => name),
      );
    });
    expect(refused.length).toBeGreaterThan(5);
    expect(
      [...new Set(refused)].filter(
        name => !names.has(name) && name !== 'name' && name !== 'merge-failure-message',
      ),
    ).toEqual([]);
  });
});
