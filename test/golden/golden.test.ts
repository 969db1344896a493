/** What a release has stored, every later one reads, and goes on with. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Codec, isNewerRecord } from '../../src/model/codec/record.ts';
import * as records from '../../src/model/codec/records.ts';
import { deadLetterHeadCodec } from '../../src/store/dead-letter.ts';
import { storePaths } from '../../src/store/paths.ts';
import { requestHeadCodec } from '../../src/store/request-record.ts';
import { stagedHeadsCodec } from '../../src/store/staged-commit.ts';
import { eventually } from '../conformance/store/eventually.ts';
import { newerRecord } from '../fake/newer-record.ts';
import type { GoldenTree, StoredRecord } from './dump.ts';
import { TENANT } from './golden-site.ts';
import { type Finished, putUp, resultsOf } from './put-up.ts';

const paths = storePaths('/gatehouse');
const codecs = new Map<string, Codec<unknown>>(
  [...Object.values(records), deadLetterHeadCodec, requestHeadCodec, stagedHeadsCodec].map(codec => [
    codec.kind,
    codec as Codec<unknown>,
  ]),
);
const trees = readdirSync(import.meta.dirname)
  .filter(file => /^store-.*\.json$/.test(file))
  .map((file): [string, GoldenTree] => [
    file,
    JSON.parse(readFileSync(path.join(import.meta.dirname, file), 'utf8')),
  ]);

/** Each record with the node it is in; the first line of what is no record as a whole may be one. */
function recordsOf(tree: GoldenTree): readonly (readonly [string, StoredRecord])[] {
  return tree.nodes.flatMap(({ path: at, records: found, text }) => {
    if (found !== undefined) return found.map(record => [at, record] as const);
    const [first = ''] = text?.split('\n') ?? [];
    return first.startsWith('{"k":') ? [[at, JSON.parse(first)] as const] : [];
  });
}

function codecOf({ k }: StoredRecord): Codec<unknown> {
  const codec = codecs.get(k);
  if (codec === undefined) throw new Error(`no codec reads ${k} any more`);
  return codec;
}

function bytesOf(record: StoredRecord): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(record));
}

/** Kinds of records that did not exist before this release. */
const CAME_WITH: ReadonlyMap<string, string> = new Map([
  ['keystore', '0.4'],
  ['project-keys', '0.4'],
  ['sender-report', '0.3.0'],
  ['connection-report', '0.4.0'],
  ['access-request', '0.4.0'],
  ['question', '0.4.0'],
  ['semaphore-holder', '0.4.0'],
  ['timers', '0.4.0'],
  ['tick', '0.4.0'],
  ['internal-event', '0.4.0'],
  ['chain-recipe', '0.4.0'],
  ['static-host', '0.4.0'],
  ['kubernetes-pool', '0.4.0'],
  ['host-state', '0.4.0'],
  ['hold-request', '0.4.0'],
  ['pipeline-notices', '0.4.0'],
  ['watched-tests', '0.4.0'],
]);

describe.each(trees)('%s', (_, tree) => {
  test('holds every kind of record there was', () => {
    const kinds = new Set(recordsOf(tree).map(([, { k }]) => k));
    const missing = [...codecs.keys()].filter(
      kind => !kinds.has(kind) && tree.release >= (CAME_WITH.get(kind) ?? ''),
    );
    expect(missing).toEqual([]);
  });

  test('is read: records of today’s version as they are, with what came later filled in; older ones brought up to date', () => {
    for (const [at, record] of recordsOf(tree)) {
      const codec = codecOf(record);
      const value = codec.decode(bytesOf(record));
      if (record.v === codec.version) expect(value, at).toMatchObject(Object(record.d));
      expect(codec.decode(codec.encode(value)), at).toEqual(value);
    }
  });

  test('would be refused record by record by processes that are too old for it', () => {
    for (const kind of new Set(recordsOf(tree).map(([, { k }]) => k))) {
      const codec = codecs.get(kind);
      if (codec === undefined) throw new Error(kind);
      let refusal: unknown;
      try {
        codec.decode(newerRecord(codec));
      } catch (error) {
        refusal = error;
      }
      expect(isNewerRecord(refusal), kind).toBe(true);
      expect(String(refusal)).toContain(`this ${kind} record has version ${codec.version + 1}`);
    }
  });
});

describe.each(trees)('the work of %s', (_, tree) => {
  test('goes on to its end: items in every phase, requests, reports, rows and events that waited', {
    timeout: 300_000,
  }, async () => {
    await using site = await putUp(tree);
    await site.service.ready;
    let finished: readonly Finished[] = [];
    const expected = {
      'gate A': 'SUCCESS',
      'gate B': 'FAILURE',
      'gate C': 'SUCCESS',
      'gate D': 'DEQUEUED',
      'gate E': 'SUCCESS',
      'gate M': 'SUCCESS',
      'check N': 'SUCCESS',
      'check Z': 'SUCCESS',
    };
    await eventually(async () => {
      finished = await site.finished();
      expect(resultsOf(finished), site.log.tail()).toEqual(expected);
    }, 200_000);
    const known = new Set(tree.nodes.flatMap(({ path: at }) => /\/items\/(\w+)$/.exec(at)?.[1] ?? []));
    const gated = finished.filter(item => item.pipeline === 'gate');
    expect(new Set(gated.map(item => item.uuid))).toEqual(known);
    expect(await site.landed('org/project')).toEqual(['A.txt', 'C.txt', 'README']);
    expect(await site.landed('org/project1')).toEqual(['E.txt', 'README']);
    expect(await site.landed('org/project2')).toEqual(['M.txt', 'README']);
    const waited = spanIdsOf(tree);
    await eventually(() => {
      const arrived = new Set(site.sink.spans.map(span => span.spanId));
      expect(waited.filter(id => !arrived.has(id))).toEqual([]);
    }, 30_000);
    await site.storeAfter(async store => {
      const gate = paths.pipeline(TENANT, 'gate');
      const queues = [`${paths.requests('merge')}/queue`, `${paths.requests('build')}/queue`];
      const reports = paths.reportOutbox(TENANT, 'gate');
      for (const place of [gate.items, gate.eventQueue, gate.staged, paths.historyOutbox, reports, ...queues])
        expect(await store.children(place), place).toEqual([]);
      expect(await store.children(paths.quarantine)).toEqual(['0000000100']);
      expect(await store.children(`${paths.tenant(TENANT).triggerQueue}-dead`)).toEqual(['0000000100']);
    });
  });
});

/** Of the rows that waited for the collector. */
function spanIdsOf(tree: GoldenTree): readonly string[] {
  return recordsOf(tree).flatMap(([, { k, d }]) =>
    k === 'spans' && Array.isArray(d)
      ? d.flatMap(span => (span.end === null ? [] : [String(span.spanId)]))
      : [],
  );
}
