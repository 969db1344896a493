/** kill -9 of a process whose playbook holds a semaphore: the next in line has it as soon as the session has ended. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { systemClock } from '../../../../src/lib/clock.ts';
import { parseUuid } from '../../../../src/lib/ids.ts';
import type { SemaphoreHolder } from '../../../../src/model/semaphore.ts';
import { holdSlots } from '../../../../src/store/hold-slots.ts';
import { storePaths } from '../../../../src/store/paths.ts';
import { slotsOfPlaybooks } from '../../../../src/store/semaphore-slots.ts';
import { freshRoot } from '../../../conformance/store/fresh-root.ts';
import { describeOnZooKeeper, sharedZooKeeper } from '../../../setup/zookeeper.ts';
import { openSessions } from './open-sessions.ts';

/** Of the session of the process that is killed. */
const TIMEOUT_MS = 2000;

describeOnZooKeeper('a process that is killed while it holds a semaphore', () => {
  test('holds it no longer than its session, and the one that waits takes it', async () => {
    const server = sharedZooKeeper();
    await using sessions = openSessions([server], { sessionTimeoutMs: 10_000 });
    const [store, root] = [await sessions.connect(), freshRoot()];
    const paths = storePaths(root);
    const script = new URL('slot-holder.ts', import.meta.url).pathname;
    const child = spawn(process.execPath, [script, String(server.port), String(TIMEOUT_MS), root], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      await once(createInterface({ input: child.stdout }), 'line');
      const uuid = parseUuid('b'.repeat(32));
      const holder: SemaphoreHolder = {
        ...{ tenant: 'acme', pipeline: 'gate', item: uuid, buildset: uuid, build: uuid, job: 'next' },
        ...{ change: 'app 2', since: systemClock().now(), playbook: 'run.sh' },
      };
      const heldBy: string[] = [];
      const full = Promise.withResolvers<void>();
      const asked = holdSlots({ store, paths }, [{ name: 'db', scope: 'tenant', max: 1 }], holder, {
        signal: new AbortController().signal,
        onFull(by) {
          heldBy.push(...by.map(({ job }) => job));
          full.resolve();
        },
      });
      await full.promise;
      expect(heldBy).toEqual(['killed']);
      child.kill('SIGKILL');
      const held = await asked;
      expect(await slotsOfPlaybooks(store, paths, 'acme')).toMatchObject([{ name: 'db', job: 'next' }]);
      await held?.release();
      expect(await slotsOfPlaybooks(store, paths, 'acme')).toEqual([]);
    } finally {
      child.kill('SIGKILL');
    }
  });
});
