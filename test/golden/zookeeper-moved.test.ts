/** An installation with items in every phase on the embedded store is copied to a real ZooKeeper, and goes on there. */
import { chmod, copyFile, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { runProgram } from '../../src/cmd/commands/program.ts';
import { startService } from '../../src/cmd/service/service.ts';
import { openEmbeddedStore } from '../../src/store/embedded/server.ts';
import { eventually } from '../conformance/store/eventually.ts';
import { startZooKeeper } from '../fake/zookeeper/server.ts';
import { storyLog } from '../scenario/story-log.ts';
import { describeOnZooKeeper } from '../setup/zookeeper.ts';
import { recordingIo } from '../unit/cmd/fixture.ts';
import { type GoldenTree, restore } from './dump.ts';
import { goldenSettings, installJob, TENANT } from './golden-site.ts';
import { type Finished, resultsOf, unbundle } from './put-up.ts';

describeOnZooKeeper('an installation that moves', () => {
  test('goes on to its end with the same items', { timeout: 300_000 }, async () => {
    const tree: GoldenTree = JSON.parse(
      await readFile(path.join(import.meta.dirname, 'store-0.2.json'), 'utf8'),
    );
    await using stack = new AsyncDisposableStack();
    const root = await mkdtemp(path.join(tmpdir(), 'gatehouse-moved-'));
    stack.defer(() => rm(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }));
    await chmod(root, 0o755);
    const searched = process.env.PATH;
    stack.defer(() => {
      process.env.PATH = searched;
    });
    await installJob(root, 'exit 0');
    await Promise.all(
      Object.entries(tree.repositories).map(([name, bundle]) => unbundle(root, name, bundle)),
    );
    const server = stack.use(await startZooKeeper());
    const [conf, before] = ['gatehouse.conf', 'old.conf'].map(name => path.join(root, 'etc', name));
    if (conf === undefined || before === undefined) throw new Error('no names');
    await goldenSettings({ root });
    await copyFile(conf, before);
    const file = path.join(root, 'state/store.sqlite');
    await mkdir(path.dirname(file));
    async function move(): Promise<{ readonly status: number; readonly out: string; readonly err: string }> {
      const [dump, restored] = [recordingIo(), recordingIo()];
      const dumped = await runProgram(['store', 'dump', '-c', before ?? ''], dump);
      if (dumped !== 0) return { status: dumped, out: '', err: dump.err() };
      const stdin = async function* () {
        yield Buffer.from(dump.out());
      };
      const status = await runProgram(['store', 'restore', '-c', conf ?? ''], { ...restored, stdin });
      return { status, out: restored.out(), err: restored.err() };
    }
    const settings = await goldenSettings({ root, zookeeper: [`hosts = ${server.host}:${server.port}`] });
    expect(await move()).toMatchObject({ status: 1, err: expect.stringContaining('there is no store at') });
    {
      await using store = openEmbeddedStore({ file });
      await restore(store.connect(), tree.nodes, root);
      expect(await move()).toMatchObject({
        status: 1,
        err: expect.stringContaining('it is in use by another process'),
      });
    }
    expect(await move()).toMatchObject({ status: 0, out: expect.stringMatching(/ {2}queue-item\n/) });
    expect(await move()).toMatchObject({
      status: 1,
      err: expect.stringContaining('choose another root or store'),
    });

    const log = storyLog();
    const started = await startService(settings, log.log);
    if (started.kind === 'refused') throw new Error(started.errors.join('\n'));
    stack.defer(() => started.service.close());
    await started.service.ready;
    let finished: readonly Finished[] = [];
    await eventually(async () => {
      const answer = await fetch(`${started.service.url}/api/tenant/${TENANT}/items?limit=100`);
      finished = answer.ok ? JSON.parse(await answer.text()) : [];
      expect(resultsOf(finished), log.tail()).toMatchObject({
        'gate A': 'SUCCESS',
        'gate B': 'FAILURE',
        'gate C': 'SUCCESS',
        'gate E': 'SUCCESS',
        'gate M': 'SUCCESS',
      });
    }, 200_000);
    const known = new Set(tree.nodes.flatMap(({ path: at }) => /\/items\/(\w+)$/.exec(at)?.[1] ?? []));
    expect(new Set(finished.filter(each => each.pipeline === 'gate').map(each => each.uuid))).toEqual(known);
    const late = recordingIo();
    expect(await runProgram(['store', 'dump', '-c', conf], late)).toBe(1);
    expect(late.err()).toContain('is still in use by');
  });
});
