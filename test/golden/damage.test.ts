/** Records that are cut short or overwritten cost what they were about, and nothing else. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { queueItemCodec, spansCodec } from '../../src/model/codec/records.ts';
import { storePaths } from '../../src/store/paths.ts';
import { requestHeadCodec } from '../../src/store/request-record.ts';
import { eventually } from '../conformance/store/eventually.ts';
import { newerRecord } from '../fake/newer-record.ts';
import type { DumpedNode, GoldenTree } from './dump.ts';
import { TENANT } from './golden-site.ts';
import { putUp, resultsOf } from './put-up.ts';

const tree: GoldenTree = JSON.parse(readFileSync(path.join(import.meta.dirname, 'store-0.2.json'), 'utf8'));
const paths = storePaths('/gatehouse');

/** Nodes whose records match, with the beginning of their bytes only. */
function cutShort(nodes: readonly DumpedNode[], which: (node: DumpedNode) => boolean): readonly DumpedNode[] {
  return nodes.map(({ records, ...node }) => {
    if (records === undefined || !which({ ...node, records }))
      return records === undefined ? node : { ...node, records };
    return {
      ...node,
      text: records
        .map(each => JSON.stringify(each))
        .join('\n')
        .slice(0, 60),
    };
  });
}

const holds = (text: string) => (node: DumpedNode) => (JSON.stringify(node.records) ?? '').includes(text);
const isAt = (prefix: string) => (node: DumpedNode) => node.path.startsWith(`${prefix}/`);
const itemOf = (topic: string) => (node: DumpedNode) =>
  isAt(paths.pipeline(TENANT, 'gate').items)(node) && holds(`"id":"master/${topic}"`)(node);

type Damage = readonly [what: string, which: (node: DumpedNode) => boolean];

const damage: readonly Damage[] = [
  ['an item', itemOf('A')],
  ['the intent of a report', isAt(paths.reportOutbox(TENANT, 'gate'))],
  ['a request to mergers', isAt(`${paths.requests('merge')}/queue`)],
  [
    'configuration files',
    node => isAt('/gatehouse/cache/config')(node) && holds('"project":"local/org/project1"')(node),
  ],
  ['what a driver remembers', node => node.path === paths.connection('local').memoryOf('refs/org/project2')],
  ['history', isAt(paths.historyOutbox)],
  [
    'what a host said of a change',
    node => isAt(paths.changeCache('local'))(node) && holds('"id":"master/D"')(node),
  ],
];

const layout: Damage = ['the layout', node => node.path === paths.tenant(TENANT).layout];

test.each([
  ['', damage],
  [', the layout included,', [...damage, layout]],
])('damage all over the tree%s stops nothing else', { timeout: 300_000 }, async (_, damage) => {
  const damaged: string[] = [];
  await using site = await putUp(tree, nodes =>
    damage.reduce<readonly DumpedNode[]>((rest, [what, which]) => {
      if (nodes.some(which)) damaged.push(what);
      return cutShort(rest, which);
    }, nodes),
  );
  expect(damaged).toEqual(damage.map(([what]) => what));
  await site.service.ready;
  await eventually(async () => {
    expect(resultsOf(await site.finished()), site.log.tail()).toMatchObject({
      'gate C': 'SUCCESS',
      'gate E': 'SUCCESS',
      'gate M': 'SUCCESS',
      'check Z': 'SUCCESS',
    });
  }, 200_000);
  expect(await site.landed('org/project')).toContain('C.txt');
  expect(await site.landed('org/project1')).toContain('E.txt');
  expect(await site.landed('org/project2')).toContain('M.txt');
  expect(site.log.trouble.join('\n')).toContain('quarantined');
});

test('records of a newer release are left as they are, with what depends on them, and the rest goes on', {
  timeout: 300_000,
}, async () => {
  const newer: readonly (readonly [which: (node: DumpedNode) => boolean, record: Uint8Array])[] = [
    [itemOf('A'), newerRecord(queueItemCodec)],
    [isAt(`${paths.requests('merge')}/queue`), newerRecord(requestHeadCodec)],
    [isAt(paths.spanOutbox), newerRecord(spansCodec)],
  ];
  const left: DumpedNode[] = [];
  await using site = await putUp(tree, nodes =>
    nodes.map(node => {
      const [, record] = newer.find(([which]) => which(node)) ?? [];
      if (record === undefined) return node;
      const written = { path: node.path, text: new TextDecoder().decode(record) };
      left.push(written);
      return written;
    }),
  );
  expect(left.length).toBeGreaterThan(2);
  await eventually(async () => {
    expect(resultsOf(await site.finished()), site.log.tail()).toMatchObject({
      'check N': 'SUCCESS',
      'check Z': 'SUCCESS',
    });
  }, 200_000);
  expect(site.log.trouble.join('\n')).toContain(`pipeline ${TENANT}/gate is left to an upgraded scheduler`);
  await site.storeAfter(async store => {
    const gate = paths.pipeline(TENANT, 'gate');
    for (const node of left)
      expect(new TextDecoder().decode((await store.get(node.path))?.data), node.path).toBe(node.text);
    // Nothing else of the pipeline was touched either.
    expect((await store.children(gate.items))?.length).toBe(tree.nodes.filter(isAt(gate.items)).length);
    expect(await store.children(paths.quarantine)).toEqual(['0000000100']);
  });
});
