/** The server of the tests: it must keep what it acknowledged, and never outlive the tests. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { mode } from '../../fake/zookeeper/four-letter.ts';
import { startZooKeeper } from '../../fake/zookeeper/server.ts';
import { describeOnZooKeeper } from '../../setup/zookeeper.ts';

const SERVER = path.resolve(import.meta.dirname, '../../fake/zookeeper/server.ts');

describeOnZooKeeper('the server of the tests', () => {
  test('serves, is killed and comes back on its port, freezes and thaws', async () => {
    await using server = await startZooKeeper();
    expect(await mode(server.port)).toBe('standalone');
    const first = server.pid();
    await server.kill();
    expect(await mode(server.port)).toBeUndefined();
    await server.restart();
    expect(server.pid()).not.toBe(first);
    server.stop();
    // A thread on the other processor may answer once more.
    await expect.poll(() => mode(server.port)).toBeUndefined();
    server.cont();
    expect(await server.ask('ruok')).toBe('imok');
  });

  test('grants session timeouts of two ticks and more', async () => {
    await using server = await startZooKeeper({ tickMs: 200 });
    const settings = (await server.ask('conf')) ?? '';
    expect(settings).toMatch(/^minSessionTimeout=400$/m);
    expect(settings).toMatch(/^maxSessionTimeout=60000$/m);
  });

  test('ends with the process that started it, however that ends, and takes its data along', async () => {
    const script = `
      import { startZooKeeper } from ${JSON.stringify(SERVER)};
      const server = await startZooKeeper();
      const conf = await server.ask('conf');
      console.log(JSON.stringify({ pid: server.pid(), folder: /^dataDir=(.*)\\/data\\/version-2$/m.exec(conf)[1] }));
    `;
    const parent = spawn(process.execPath, ['--input-type=module-typescript', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = await once(parent.stdout.setEncoding('utf8'), 'data');
    const { pid, folder } = JSON.parse(line);
    expect(isAlive(pid)).toBe(true);
    expect(existsSync(folder)).toBe(true);
    parent.kill('SIGKILL');
    await expect.poll(() => isAlive(pid), { timeout: 10_000 }).toBe(false);
    await expect.poll(() => existsSync(folder), { timeout: 10_000 }).toBe(false);
  });
});

/** A zombie is not. */
function isAlive(pid: number): boolean {
  return existsSync(`/proc/${pid}/exe`);
}
