import { expect, test } from 'vitest';
import { HostFailed, type ProjectGit } from '../../../../drivers/git/remote-git.ts';
import { watchedGit } from '../../../../drivers/git/watched-git.ts';
import { createHostHealth } from '../../../../src/driver/host-health.ts';
import type { FailureReason } from '../../../../src/git/process/failure-table.ts';
import { projectKey } from '../../../../src/model/project.ts';

const APP = projectKey({ connection: 'local', name: 'acme/app' });
const LIB = projectKey({ connection: 'local', name: 'acme/lib' });

/** What listing the refs of a project comes to. */
function openHealth() {
  const health = createHostHealth(() => null);
  const states: string[] = [];
  health.onChange(() => states.push(health.now().state));
  return {
    health,
    states,
    async ask(project: typeof APP, reason?: FailureReason): Promise<void> {
      const refs = async () => {
        if (reason !== undefined) throw new HostFailed(project, { message: `it is ${reason}`, reason });
        return new Map();
      };
      const git = watchedGit(project, { refs } as unknown as ProjectGit, health);
      await git.refs().catch(() => {});
    },
  };
}

test('a host is unknown until it is asked, and serves while every project was served last', async () => {
  const { health, ask, states } = openHealth();
  expect(health.now()).toMatchObject({ state: 'unknown', lastEventAt: null, limitedUntil: null, missed: 0 });
  await ask(APP);
  await ask(APP);
  await ask(LIB);
  expect(health.now()).toMatchObject({ state: 'serving', text: 'serves' });
  expect(states).toEqual(['serving']);
});

test('a project that is limited, or fails, is reported until it is served again', async () => {
  const { health, ask, states } = openHealth();
  await ask(APP, 'limited');
  expect(health.now()).toMatchObject({ state: 'limited', text: 'local/acme/app: it is limited' });
  await ask(LIB, 'timeout');
  expect(health.now()).toMatchObject({ state: 'failing', text: 'local/acme/app: it is limited, and 1 more' });
  await ask(LIB);
  await ask(APP);
  expect(health.now().state).toBe('serving');
  expect(states).toEqual(['limited', 'failing', 'limited', 'serving']);
});

test('a commit that the host does not have is no trouble of the host', async () => {
  const { health, ask } = openHealth();
  await ask(APP, 'missing-ref');
  expect(health.now().state).toBe('serving');
});
