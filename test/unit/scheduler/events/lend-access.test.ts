/** An executor without credentials and the holder of the connection, over one store. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { GitRemote } from '../../../../src/driver/remote.ts';
import { borrowAccess } from '../../../../src/executor/borrow-access.ts';
import { systemClock } from '../../../../src/lib/clock.ts';
import { parseUuid, randomIds } from '../../../../src/lib/ids.ts';
import type { BuildRequest } from '../../../../src/model/build-request.ts';
import { buildRequestCodec } from '../../../../src/model/codec/records.ts';
import { type ProjectKey, projectKey } from '../../../../src/model/project.ts';
import { lendAccess } from '../../../../src/scheduler/events/lend-access.ts';
import { type EmbeddedStore, openEmbeddedStore } from '../../../../src/store/embedded/server.ts';
import { ensureNode } from '../../../../src/store/ensure-node.ts';
import { storePaths } from '../../../../src/store/paths.ts';
import type { Store } from '../../../../src/store/port.ts';
import { RequestQueue } from '../../../../src/store/request-queue.ts';
import { createRequestWorker } from '../../../../src/store/request-worker.ts';
import { eventually } from '../../../conformance/store/eventually.ts';
import { emptyBuildRequest } from '../../../fake/records.ts';

const TOKEN = 'ghs_canary0123456789';
const HEADERS = [`Authorization: Basic ${Buffer.from(`x-access-token:${TOKEN}`).toString('base64')}`];
const key = (name: string) => projectKey({ connection: 'gh', name });
const APP = key('acme/app');
const JOBS = key('acme/jobs');
const BUILD = parseUuid('b'.repeat(32));
const paths = storePaths('/gatehouse');
const ids = randomIds();

let written: string[];
let server: EmbeddedStore;
let executor: Store;
let stop: AbortController;
let lending: Promise<void>;
let asked: { readonly project: ProjectKey; readonly use: string }[];
let remote: (project: ProjectKey) => Promise<GitRemote>;
let warnings: string[];

beforeEach(async () => {
  written = [];
  server = openEmbeddedStore({ file: ':memory:' });
  executor = connect();
  stop = new AbortController();
  asked = [];
  warnings = [];
  remote = async project => ({ url: `https://host/${project}`, headers: HEADERS, lendable: true });
  await ensureNode(executor, paths.root);
  await claimed(executor, BUILD);
  lending = lend();
});
afterEach(async () => {
  stop.abort();
  await lending;
  await server.close();
});

/** A session of which every write is kept. */
function connect(): Store {
  const store = server.connect();
  const multi = store.multi.bind(store);
  store.multi = (operations, id) => {
    for (const each of operations)
      if ('data' in each) written.push(`${each.path} ${Buffer.from(each.data).toString('latin1')}`);
    return multi(operations, id);
  };
  return store;
}

function lend(): Promise<void> {
  const connection = {
    name: 'gh',
    remote(project: ProjectKey, use: string) {
      asked.push({ project, use });
      return remote(project);
    },
  };
  const log = {
    warn: (facts: object, text: string) => void warnings.push(`${text}: ${JSON.stringify(facts)}`),
  };
  return lendAccess({ connection, store: connect(), paths, log }, stop.signal);
}

const place = { branch: 'main', commit: 'c'.repeat(40), canonicalName: 'x' } as const;

async function claimed(store: Store, uuid: typeof BUILD): Promise<void> {
  const queue = new RequestQueue({ store, path: paths.requests('build'), codec: buildRequestCodec });
  await queue.prepare();
  const playbook = {
    ...place,
    project: JOBS,
    path: 'run.sh',
    trusted: true,
  } as unknown as BuildRequest['playbooks']['run'][number];
  const project = { ...place, project: APP, required: true } as unknown as BuildRequest['projects'][number];
  const request = emptyBuildRequest({
    uuid,
    item: parseUuid('a'.repeat(32)),
    buildset: parseUuid('d'.repeat(32)),
    projects: [project],
    playbooks: { preRun: [], run: [playbook], postRun: [] },
  });
  await queue.submitNow(request);
  const worker = createRequestWorker(queue, { worker: 'e1', clock: systemClock(), accepts: () => true });
  await worker.next(AbortSignal.timeout(10_000));
}

const borrow = (project: ProjectKey, store = executor, build = BUILD, deadline = 10_000) =>
  borrowAccess({ store, paths, ids, deadline }, build, project);

describe('read access is lent', () => {
  test('for the projects of a build to the process that holds it, and nothing of it stays', async () => {
    expect(await borrow(APP)).toEqual({ headers: HEADERS });
    expect(await borrow(JOBS)).toEqual({ headers: HEADERS });
    expect(asked).toEqual([
      { project: APP, use: 'read' },
      { project: JOBS, use: 'read' },
    ]);
    expect(await executor.children(paths.accessRequests('gh'))).toEqual([]);
    expect(warnings).toEqual([]);
  });

  test('and is never written as it is', async () => {
    await borrow(APP);
    const text = written.join('\n');
    expect(text).toContain('"state":"lent"');
    for (const secret of [TOKEN, ...HEADERS.map(line => line.split(' ').at(-1) ?? '')])
      expect(text).not.toContain(secret);
  });

  test('to many that ask at once, twenty at a time', async () => {
    const released = Promise.withResolvers<void>();
    const usual = remote;
    remote = async project => {
      await released.promise;
      return usual(project);
    };
    const answers = Promise.all(Array.from({ length: 50 }, () => borrow(APP)));
    await eventually(async () => {
      expect(await executor.children(paths.accessRequests('gh'))).toHaveLength(50);
      expect(asked).toHaveLength(20);
    });
    released.resolve();
    expect(await answers).toEqual(Array.from({ length: 50 }, () => ({ headers: HEADERS })));
    expect(asked).toHaveLength(50);
  });

  test('also when the connection had no holder at the time of the request', async () => {
    stop.abort();
    await lending;
    const answer = borrow(APP);
    await eventually(async () => expect(await executor.children(paths.accessRequests('gh'))).toHaveLength(1));
    stop = new AbortController();
    lending = lend();
    expect(await answer).toEqual({ headers: HEADERS });
  });
});

describe('no access is lent', () => {
  test.each([
    [
      'to a process that does not hold the build',
      () => borrow(APP, server.connect()),
      /not held by the process/,
    ],
    [
      'for a build that is not claimed',
      () => borrow(APP, executor, parseUuid('e'.repeat(32))),
      /not held by/,
    ],
    ['to a project that is not of the build', () => borrow(key('acme/secret')), /no project of build/],
    [
      'with credentials that open more',
      () => {
        remote = async () => ({ url: 'https://host/a', headers: HEADERS });
        return borrow(APP);
      },
      /lends no access/,
    ],
  ])('%s, and the log says so', async (_, ask, text) => {
    expect(await ask()).toMatchObject({ trouble: { reason: 'denied', text: expect.stringMatching(text) } });
    expect(warnings).toEqual([expect.stringMatching(text)]);
  });

  test('when the host gives none: its trouble is the answer', async () => {
    remote = () => Promise.reject(new Error('GitHub is away'));
    expect(await borrow(APP)).toMatchObject({
      trouble: { project: APP, reason: 'other', text: expect.stringContaining('GitHub is away') },
    });
  });

  test('when no answer comes in time, and the request is withdrawn', async () => {
    stop.abort();
    await lending;
    expect(await borrow(APP, executor, BUILD, 20)).toMatchObject({
      trouble: { reason: 'other', text: expect.stringMatching(/no scheduler answered/) },
    });
    expect(await executor.children(paths.accessRequests('gh'))).toEqual([]);
  });
});
