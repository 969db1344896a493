/**
 * A process to be killed: writes below `/w` as fast as it can and prints what the store acknowledged, one JSON line per
 * multi, only after the acknowledgement.
 *
 *     node writer-process.ts <file> <outstanding>
 */
import { writeSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { openEmbeddedStore } from '../../../../src/store/embedded/server.ts';
import { create, StoreError, set } from '../../../../src/store/port.ts';

// What is killed keeps nothing of what it compiled, and the next one would compile all of it again.
flushCompileCache();

const [file = '', outstanding = '1'] = process.argv.slice(2);
const say = (line: object): void => {
  writeSync(1, `${JSON.stringify(line)}\n`);
};
const server = openEmbeddedStore({ file });
const store = server.connect();
const data = new Uint8Array(300).fill(7);

if ((await store.get('/w')) === undefined) {
  await store.multi([create('/w'), create('/w/counter'), create('/w/pair')]);
}
await store.multi([create('/w/alive', data, { ephemeral: true })]);
say({ ready: await store.children('/w') });

async function write(): Promise<void> {
  for (;;) {
    const [made, , counter, pair] = await store.multi([
      create('/w/n-', data, { sequential: true }),
      create('/w/e-', data, { sequential: true, ephemeral: true }),
      set('/w/counter', data),
      set('/w/pair', data),
    ]);
    say({ made: made?.path, counter: counter?.version, pair: pair?.version });
  }
}
try {
  await Promise.all(Array.from({ length: Number(outstanding) }, () => write()));
} catch (error) {
  say({
    failed: error instanceof StoreError ? error.code : String(error),
    children: (await store.children('/w'))?.length,
  });
  await server.close();
}
