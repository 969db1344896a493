/**
 * The status of a tenant with a long gate, as Zuul's clients poll it: asked over HTTP of a web over that gate, in this process.
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
  const web = await fakeWeb();
  try {
    const rows: Row[] = [];
    for (const size of SIZES) {
      web.change(snapshotOf(size));
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
    }
    return rows;
  } finally {
    await web.close();
  }
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
