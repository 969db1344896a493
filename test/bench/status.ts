/**
 * The status of a tenant with a long gate, asked over HTTP of a web over that gate, in this process: all of it, as Zuul's clients poll
 * it, and a page; and the documents that the page in a browser begins with.
 *
 *     GATEHOUSE_BENCH_STATUS=1000,5000 npm run bench status
 *
 * Oracle: the document names every item, and behind each the next one.
 */
import { performance } from 'node:perf_hooks';
import type { StatusDocument } from '../../src/api/status-schema.ts';
import { fakeWeb, sampleSnapshot } from '../unit/web/fake-web.ts';
import { gateOf } from './gate-reset.ts';
import type { Row } from './main.ts';

const SIZES = (process.env.GATEHOUSE_BENCH_STATUS ?? '1000,5000').split(',').map(Number);
const JOBS = 2;
const WINDOW = 20;
const TIMES = 10;
const TENANT = 'main';

/** @throws Error when the document is wrong. */
export async function benchStatus(): Promise<readonly Row[]> {
  // Before the web is there: its connections would wait meanwhile, and close.
  const snapshots = SIZES.map(size => [size, snapshotOf(size)] as const);
  const web = await fakeWeb();
  try {
    const rows: Row[] = [];
    for (const [size, snapshot] of snapshots) {
      web.change(snapshot);
      const url = `${web.url}/api/tenant/${TENANT}/status`;
      const times: number[] = [];
      let text = '';
      for (let time = 0; time < TIMES; time += 1) {
        const begun = performance.now();
        text = await (await fetch(url)).text();
        times.push(performance.now() - begun);
      }
      check(JSON.parse(text) as StatusDocument, size);
      const name = `status of ${size.toLocaleString('en')} items`;
      rows.push({ name: `${name}, best of ${TIMES}`, value: Math.min(...times), unit: 'ms' });
      rows.push({ name: `${name}: document`, value: Buffer.byteLength(text), unit: 'bytes' });
      rows.push({ name: `${name}: longest hold of the event loop`, value: await holdOf(url), unit: 'ms' });
      rows.push(...(await partRows(`${url}?limit=100&skip=${size - 100}`, `page of 100 of ${size}`)));
      rows.push(...(await streamRows(`${web.url}/api/tenant/${TENANT}/events`, size)));
    }
    return rows;
  } finally {
    await web.close();
  }
}

async function partRows(url: string, name: string): Promise<readonly Row[]> {
  const begun = performance.now();
  const text = await (await fetch(url)).text();
  return [
    { name: `${name}`, value: performance.now() - begun, unit: 'ms' },
    { name: `${name}: document`, value: Buffer.byteLength(text), unit: 'bytes' },
  ];
}

async function streamRows(url: string, size: number): Promise<readonly Row[]> {
  const name = `beginning of the stream of ${size}`;
  const stop = new AbortController();
  const begun = performance.now();
  const { body } = await fetch(url, { signal: stop.signal });
  let text = '';
  for await (const part of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += part;
    if (/\ndata: .*\n\n/.test(text)) break;
  }
  const took = performance.now() - begun;
  stop.abort();
  return [
    { name, value: took, unit: 'ms' },
    { name: `${name}: documents`, value: Buffer.byteLength(text), unit: 'bytes' },
  ];
}

/** Milliseconds: the longest time between two turns of the event loop while it is asked for. */
async function holdOf(url: string): Promise<number> {
  let longest = 0;
  let last = performance.now();
  let over = false;
  const look = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    if (!over) setImmediate(look);
  };
  setImmediate(look);
  // Not read as text here: the client's own work would count.
  const response = await fetch(url);
  for await (const _ of response.body ?? []);
  over = true;
  return longest;
}

function snapshotOf(size: number) {
  const sample = sampleSnapshot({ gate: [], check: [] });
  const { state } = gateOf(size, JOBS, WINDOW).input;
  return {
    ...sample,
    pipelines: sample.pipelines.map(live => (live.pipeline.name === 'gate' ? { ...live, state } : live)),
  };
}

function check(document: StatusDocument, size: number): void {
  const gate = document.pipelines.find(({ name }) => name === 'gate');
  const items = gate?.change_queues.flatMap(({ heads }) => heads.flat()) ?? [];
  if (items.length !== size) throw new Error(`the status has ${items.length} of ${size} items`);
  for (const [at, { items_behind }] of items.entries())
    if (items_behind.length !== (at === size - 1 ? 0 : 1) || items_behind[0] !== items[at + 1]?.id)
      throw new Error(`the status does not say what is behind item ${at + 1}`);
}
