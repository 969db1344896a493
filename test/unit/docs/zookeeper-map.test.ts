/** The map of ZooKeeper's tree says what is there, and what it says is there: for the tree of the release, and for a running gate. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/lib/clock.ts';
import * as records from '../../../src/model/codec/records.ts';
import { deadLetterHeadCodec } from '../../../src/store/dead-letter.ts';
import { requestHeadCodec } from '../../../src/store/request-record.ts';
import { stagedHeadsCodec } from '../../../src/store/staged-commit.ts';
import { openZooKeeper } from '../../../src/store/zookeeper/source.ts';
import { SILENT } from '../../fake/silent-log.ts';
import { type DumpedNode, dump, type GoldenTree } from '../../golden/dump.ts';
import { classicLayout } from '../../scenario/layouts.ts';
import { DEADLINE } from '../../scenario/observer.ts';
import { openWorld } from '../../scenario/open-world.ts';
import { describeOnZooKeeper, sharedZooKeeper } from '../../setup/zookeeper.ts';
import { ROOT, sectionOf, textOf } from './repository-text.ts';

interface Row {
  readonly path: string;
  readonly pattern: RegExp;
  readonly node: string;
  readonly record: string;
}

const MAP = textOf('doc/zookeeper-map.md');

/** What stands for what; anything else in angle brackets is one segment. */
const PLACEHOLDERS: Readonly<Record<string, string>> = {
  n: '\\d{10}',
  uuid: '[0-9a-f]{32}',
  sha256: '[0-9a-f]{64}',
  digest: '[0-9a-f]{32}',
  contender: '[0-9a-f]{32}-[^/]+-lock-\\d{10}',
  priority: '\\d{3}',
  bytes: '\\d+',
  milliseconds: '\\d+',
  values: '\\d+',
  part: '\\d{4}',
};

function patternOf(template: string): RegExp {
  const source = template.replaceAll(/<(\w+)>/g, (_, name: string) => PLACEHOLDERS[name] ?? '[^/]+');
  return new RegExp(`^${source}$`);
}

const rows: readonly Row[] = [...MAP.matchAll(/^\| `([^`]+)` \| ([pen ]+) \| (.*?) \| .*\|$/gm)].map(
  ([, template = '', node = '', record = '']) => ({
    path: template,
    pattern: patternOf(template),
    node,
    record,
  }),
);

/** Below the root, without what only holds others. */
function placesOf(
  nodes: readonly DumpedNode[],
  root: string,
): readonly (DumpedNode & { readonly place: string })[] {
  const parents = new Set(nodes.map(node => path.posix.dirname(node.path)));
  const isEmpty = (node: DumpedNode) =>
    node.records === undefined && node.text === undefined && node.base64 === undefined;
  return nodes
    .filter(
      node =>
        node.path !== root && !(isEmpty(node) && node.ephemeral !== true && isParent(node.path, parents)),
    )
    .map(node => ({ ...node, place: node.path.slice(root.length + 1) }));
}

/** Some parents have no children at the moment. */
const PARENTS =
  /(?:queue|queue-dead|questions|questions-dead|seen|election|memory|landings|trigger|trigger-dead|ticks|ticks-dead|internal|internal-dead|lock|answers|pipelines|items|events|events-dead|staged|claimed|cancelled|resumed|bodies|blobs|quarantine|tenants|keys|nodes\/hosts|nodes\/pools|nodes\/states|nodes\/holds)$|^alive$|^(?:components|elections|access|semaphores|outbox\/reports|outbox\/messages|cache\/(?:changes|config))(?:\/[^/]+){0,2}$|^outbox\/(?:spans|history)$/;

function isParent(at: string, parents: ReadonlySet<string>): boolean {
  return parents.has(at) || PARENTS.test(at.split('/').slice(2).join('/'));
}

/** @param released the tree of a release: records whose version was raised since are older there. */
function problemsOf(nodes: readonly DumpedNode[], root: string, released = false): readonly string[] {
  return placesOf(nodes, root).flatMap(node => {
    const row = rows.find(({ pattern }) => pattern.test(node.place));
    if (row === undefined) return [`${node.place} is not on the map`];
    const problems: string[] = [];
    if (row.node.startsWith('e') !== (node.ephemeral === true))
      problems.push(`${row.path} is not ${row.node}`);
    // A uuid or a hash may end in ten digits as well.
    if (row.node.includes('n') !== /(?<![0-9a-f])\d{10}$/.test(node.place))
      problems.push(`${row.path}: numbered or not?`);
    const found = describeRecord(node);
    if (!matches(row.record, found, released)) problems.push(`${row.path} holds ${found}, not ${row.record}`);
    return problems;
  });
}

/** `request 1, build-request 1`, `bare`, `nothing`. */
function describeRecord({ records: found, text, base64 }: DumpedNode): string {
  if (found !== undefined) return found.map(({ k, v }) => `${k} ${v}`).join(', ');
  const first = /^\{"k":"([\w-]+)","v":(\d+),/.exec(text ?? '');
  if (first !== null) return `${first[1]} ${first[2]}`;
  return text === undefined && base64 === undefined ? 'nothing' : 'bare';
}

function matches(documented: string, found: string, released: boolean): boolean {
  if (found === 'nothing') return documented === '*nothing*' || !documented.includes(',');
  const named = [...documented.matchAll(/`([\w-]+)`(?: (\d+))?/g)].map(([, kind, version]) =>
    version === undefined ? `${kind}` : `${kind} ${version}`,
  );
  const isNamed = (each: string) => {
    const [kind, version] = each.split(' ');
    return named.some(name => {
      const [known, newest] = name.split(' ');
      return known === kind && released && Number(version) <= Number(newest);
    });
  };
  return found.split(', ').every(each => named.includes(each) || isNamed(each));
}

function unseen(nodes: readonly DumpedNode[], root: string): readonly string[] {
  const places = placesOf(nodes, root);
  return rows.filter(({ pattern }) => !places.some(({ place }) => pattern.test(place))).map(row => row.path);
}

/** Templates of the rarely there, written `…/queue-dead/<n>`. */
const rare = [...sectionOf(MAP, 'Rarely there').matchAll(/`([^`]+)`/g)].map(([, template = '']) =>
  template.replaceAll('…', ''),
);
const isRare = (place: string) =>
  rare.some(part => place.includes(part)) ||
  /(?:queue|questions|trigger|ticks|internal|events)\/<n>$|^outbox\//.test(place);

const folder = path.join(ROOT, 'test/golden');
const trees = readdirSync(folder)
  .filter(file => /^store-.*\.json$/.test(file))
  .sort();

describe('the map', () => {
  test('is read', () => {
    expect(rows.length).toBeGreaterThan(35);
    expect(rare.length).toBeGreaterThan(5);
    for (const row of rows) expect(row.record, row.path).toMatch(/`|\*nothing\*/);
  });

  test('names every kind of record with its version', () => {
    const codecs = [...Object.values(records), deadLetterHeadCodec, requestHeadCodec, stagedHeadsCodec];
    const known = codecs.map(({ kind, version }) => `\`${kind}\` ${version}`);
    const named = new Set(
      rows.flatMap(({ record }) => [...record.matchAll(/`[\w-]+` \d+/g)].map(([each]) => each)),
    );
    expect([...named].toSorted()).toEqual(known.toSorted());
  });

  test('and the stored tree of the newest release agree', () => {
    const tree: GoldenTree = JSON.parse(readFileSync(path.join(folder, trees.at(-1) ?? ''), 'utf8'));
    expect(problemsOf(tree.nodes, '/gatehouse', true)).toEqual([]);
    const missing = unseen(tree.nodes, '/gatehouse');
    // An election is in the tree only while another web stands by; a part is there before it is decided; and signs of life, reports of
    // connections, requests for access, bodies of requests, marks of paused builds, questions, keys of projects, semaphores, notices and watched tests came later.
    expect(
      missing.filter(
        each =>
          !/^elections|^outbox\/messages|^keystore$|^keys|^nodes|^semaphores|^landings|^alive|^access|^watched-tests|\/bodies\/|\/resumed\/|<connection>\/report$|events-dead|queue-dead|questions|ticks|internal|timers$|notices$|staged\/decided$/.test(
            each,
          ),
      ),
    ).toEqual([]);
  });
});

describeOnZooKeeper('the map and a running gate', () => {
  test('agree, node by node', { timeout: 4 * DEADLINE }, async () => {
    const { host, port } = sharedZooKeeper();
    const root = `/map-${process.pid}`;
    await using world = await openWorld(
      { layout: classicLayout({ check: true }) },
      { kind: 'zookeeper', host, port, root },
    );
    await world.propose('A');
    await world.approve('A');
    await world.runs('project-merge: A', 'project-merge: A');
    await using source = openZooKeeper({
      hosts: [{ host, port }],
      sessionTimeoutMs: 10_000,
      auth: undefined,
      tls: undefined,
      clock: systemClock(),
      log: SILENT,
      random: Math.random,
    });
    const store = await source.connect('map');
    const nodes = await dump(store, root, '{root}');
    expect(problemsOf(nodes, root)).toEqual([]);
    expect(unseen(nodes, root).filter(place => !isRare(place))).toEqual([]);
    await world.end();
  });
});
