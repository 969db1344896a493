import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createListener, type Wait } from '../../../../drivers/git/listener.ts';
import { encodeMemory, memoryKey, refsDigest } from '../../../../drivers/git/project-memory.ts';
import type { Refs } from '../../../../drivers/git/ref-view.ts';
import type { ProjectGit } from '../../../../drivers/git/remote-git.ts';
import type { NewConnectionEvent } from '../../../../src/driver/intake.ts';
import { parseObjectId } from '../../../../src/git/objects/object-id.ts';
import { parseRefName } from '../../../../src/git/objects/ref-name.ts';
import type { Json } from '../../../../src/model/job.ts';
import { type ProjectKey, projectKey } from '../../../../src/model/project.ts';

const app = projectKey({ connection: 'local', name: 'acme/app' });
const lib = projectKey({ connection: 'local', name: 'acme/lib' });
const refsAt = (digit: string): Refs =>
  new Map([[parseRefName('refs/heads/master'), parseObjectId(digit.repeat(40))]]);

/** A listener whose time stands still until the test lets a poll happen. */
function stage(pollInterval = 60, random = 0.5) {
  const abort = new AbortController();
  const remotes = new Map<ProjectKey, Refs | Error | Promise<Refs>>([[app, refsAt('1')]]);
  const memory = new Map<string, Json>();
  const emitted: NewConnectionEvent[] = [];
  const warnings: string[] = [];
  const waits: number[] = [];
  let pollNow = (): void => undefined;
  let asleep = (): void => undefined;
  let sleeping = new Promise<void>(resolve => (asleep = resolve));
  const wait: Wait = (milliseconds, signal) =>
    new Promise(resolve => {
      waits.push(milliseconds);
      pollNow = resolve;
      if (signal.aborted) resolve();
      signal.addEventListener('abort', () => resolve(), { once: true });
      asleep();
    });
  let onAsked = (_: ProjectKey): void => undefined;
  let unhang = (_: Refs): void => undefined;
  async function answer(project: ProjectKey): Promise<Refs> {
    onAsked(project);
    const refs = remotes.get(project);
    if (refs instanceof Error || refs === undefined) throw refs ?? new Error('no such remote');
    return refs;
  }
  const listener = createListener({
    log: { debug: () => undefined, info: () => undefined, warn: (_, text) => void warnings.push(text) },
    openGit: async project => ({ ...nothing, refs: () => answer(project) }),
    pollInterval,
    wait,
    random: () => random,
  });
  const listening = listener.listen({
    emit: async event => void emitted.push(event),
    projects: () => new Set(remotes.keys()),
    memory: { get: async key => memory.get(key) },
    isLive: async () => false,
    passed: async () => undefined,
    signal: abort.signal,
  });
  return {
    remotes,
    emitted,
    warnings,
    waits,
    /** From now on the remote does not answer; resolves when it is asked. */
    hang(project: ProjectKey): Promise<void> {
      remotes.set(
        project,
        new Promise(resolve => {
          unhang = resolve;
        }),
      );
      return new Promise(resolve => {
        onAsked = () => resolve();
      });
    },
    unhang: (refs: Refs) => unhang(refs),
    /** Until all projects were looked at. */
    settled: () => sleeping,
    async poll() {
      sleeping = new Promise<void>(resolve => (asleep = resolve));
      pollNow();
      await sleeping;
    },
    remember(project: ProjectKey, refs: Refs, sequence: number) {
      memory.set(memoryKey(project), encodeMemory({ sequence, refs, proposals: new Map() }));
    },
    async end() {
      abort.abort();
      await listening;
    },
  };
}

const unused = () => expect.unreachable();
const nothing: ProjectGit = {
  refs: unused,
  bring: unused,
  bringRefs: unused,
  has: unused,
  text: unused,
  beyond: unused,
  isAncestor: unused,
  holds: unused,
  peel: unused,
  merge: unused,
  push: unused,
  note: unused,
};

describe('the listener', () => {
  let it: ReturnType<typeof stage>;
  beforeEach(() => {
    it = stage();
  });
  afterEach(() => it.end());

  test('notifies of every project at its start', async () => {
    await it.settled();
    expect(it.emitted).toEqual([
      {
        type: 'refs-changed',
        deliveryId: expect.stringContaining(refsDigest(refsAt('1'))),
        payload: { project: 'acme/app', polled: true },
      },
    ]);
  });

  test('notifies of a project again only when its refs are not those remembered', async () => {
    await it.settled();
    it.remember(app, refsAt('1'), 1);
    await it.poll();
    expect(it.emitted).toHaveLength(1);
    it.remotes.set(app, refsAt('2'));
    await it.poll();
    expect(it.emitted).toHaveLength(2);
  });

  test('notifies of nothing at its start where the refs are those of the last reading', async () => {
    const again = stage();
    again.remember(app, refsAt('1'), 1);
    await again.settled();
    await again.end();
    expect(again.emitted).toEqual([]);
  });

  test('gives the same state the same id in every process', async () => {
    await it.settled();
    const other = stage();
    await other.settled();
    await other.end();
    expect(other.emitted).toEqual(it.emitted);
  });

  test('repeats an unprocessed notification under a new id', async () => {
    await it.settled();
    await it.poll();
    await it.poll();
    expect(new Set(it.emitted.map(({ deliveryId }) => deliveryId)).size).toBe(3);
  });

  test('gives a state that comes back another id', async () => {
    await it.settled();
    it.remember(app, refsAt('1'), 1);
    it.remotes.set(app, refsAt('2'));
    await it.poll();
    it.remember(app, refsAt('2'), 2);
    it.remotes.set(app, refsAt('1'));
    await it.poll();
    it.remember(app, refsAt('1'), 3);
    it.remotes.set(app, refsAt('2'));
    await it.poll();
    expect(new Set(it.emitted.map(({ deliveryId }) => deliveryId)).size).toBe(4);
  });

  test('does not let one remote that is away stop the others', async () => {
    await it.settled();
    it.remotes.set(app, new Error('no route to host'));
    it.remotes.set(lib, refsAt('3'));
    await it.poll();
    expect(it.emitted.at(-1)?.payload).toEqual({ project: 'acme/lib', polled: true });
    expect(it.warnings).toHaveLength(1);
    it.remotes.set(app, refsAt('2'));
    await it.poll();
    expect(it.emitted.map(({ payload }) => payload)).toContainEqual({ project: 'acme/app', polled: true });
  });

  test('looks at a project that appears', async () => {
    await it.settled();
    it.remotes.set(lib, refsAt('3'));
    await it.poll();
    expect(it.emitted.at(-1)?.payload).toEqual({ project: 'acme/lib', polled: true });
  });
});

describe('the end of the listener', () => {
  test('does not wait for a remote that does not answer, and sends nothing afterwards', async () => {
    const it = stage();
    await it.settled();
    const asked = it.hang(app);
    void it.poll();
    await asked;
    await it.end();
    expect(it.emitted).toHaveLength(1);
    it.unhang(refsAt('2'));
    await new Promise(resolve => setImmediate(resolve));
    expect(it.emitted).toHaveLength(1);
  });
});

describe('the pace of the listener', () => {
  test.each([
    [60, 0, 54_000],
    [60, 0.5, 60_000],
    [60, 1, 66_000],
    [0, 0.5, Number.POSITIVE_INFINITY],
  ])('at poll_interval %d and chance %d is %d ms', async (interval, random, milliseconds) => {
    const it = stage(interval, random);
    await it.settled();
    await it.end();
    expect(it.waits).toEqual([milliseconds]);
  });
});
