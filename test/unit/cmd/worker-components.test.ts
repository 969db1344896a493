/** Executors and mergers as components: claimed fairly, paused, drained, lost and begun again in one process. */

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Component } from '../../../src/cmd/service/core.ts';
import { startExecutor } from '../../../src/cmd/service/start-executor.ts';
import { startMerger } from '../../../src/cmd/service/start-merger.ts';
import { fetchLog } from '../../../src/executor/log-client.ts';
import { serveRequest } from '../../../src/merger/merger.ts';
import { changeKey } from '../../../src/model/change.ts';
import { parseCommitId } from '../../../src/model/project.ts';
import { abandonedRequests, discarded } from '../../../src/store/abandoned-requests.ts';
import type { Store } from '../../../src/store/port.ts';
import { itemStory } from '../../fake/queue-item.ts';
import { slowness } from '../../fake/slowness.ts';
import { buildRequest, PROJECT, projectAt, script, until } from '../executor/fixture.ts';
import { processesWith } from '../executor/processes.ts';
import { configFilesRequest, mergeRequest } from '../merger/merger-stage.ts';
import { FaultyStore } from '../store/faulty-store.ts';
import { type Machine, openWorkerBench, type WorkerBench } from './worker-bench.ts';

let bench: WorkerBench;
const components: Component[] = [];

beforeEach(async () => {
  bench = await openWorkerBench();
});
afterEach(async () => {
  for (const component of components.splice(0)) await component.close();
  await bench.close();
});

async function start<C extends Component>(begin: Promise<C>): Promise<C> {
  const component = await begin;
  component.ended.catch(() => undefined);
  components.push(component);
  return component;
}

/** A commit on `main` whose `ci/run.sh` is the script. */
const commitScript = (body: string) =>
  bench.host.commit({ files: { 'ci/run.sh': script(body) }, isScript: () => true });

/** A build of the commit as the head of `main`, with the item it is for in the store. */
async function requestBuild(commit: string, head = commit) {
  const { item } = itemStory({ seed: `item-${Math.random()}` });
  const heads = [{ project: PROJECT, branch: 'main', commit: parseCommitId(head) }];
  const stored = {
    ...item,
    buildset: { ...item.buildset, stage: { state: 'merged' as const, tested: { branches: [], heads } } },
  };
  await bench.storeItem(stored);
  const request = buildRequest(
    commit,
    { run: ['ci/run.sh'] },
    { item: item.uuid, buildset: item.buildset.uuid },
  );
  await bench.builds.submitNow(request);
  return request;
}

const logOf = (build: string) =>
  readFile(join(bench.folder, 'logs', build, 'job-output.txt'), 'utf8').catch(() => '');
const logHolds = (build: string, text: string) =>
  until(async () => ((await logOf(build)).includes(text) ? true : undefined), `the log to hold ${text}`);
const resultsOf = (count: number) =>
  until(async () => {
    const results = await bench.results();
    return results.length >= count ? results : undefined;
  }, `${count} results`);

async function spawners(): Promise<number> {
  const pids = (await readdir('/proc')).filter(name => /^\d+$/.test(name));
  const lines = await Promise.all(
    pids.map(async pid => [
      await readFile(`/proc/${pid}/status`, 'latin1').catch(() => ''),
      await readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => ''),
    ]),
  );
  const own = new RegExp(`^PPid:\\s+${process.pid}$`, 'm');
  return lines.filter(([status = '', line = '']) => own.test(status) && line.includes('spawner/main.ts'))
    .length;
}

describe('two executors of a machine', () => {
  it('share the builds that wait, in directories of their own', async () => {
    const commit = await commitScript('pwd; sleep 0.2');
    const machines = [await bench.machine('ci1'), await bench.machine('ci2')];
    const requests = [];
    for (let count = 0; count < 20; count += 1) requests.push(await requestBuild(commit));
    for (const { core } of machines) await start(startExecutor(core));
    const results = await resultsOf(20);
    expect(results.map(({ result, detail }) => detail ?? result)).toEqual(Array(20).fill('SUCCESS'));
    expect(new Set(results.map(({ build }) => build)).size).toBe(20);
    for (const name of ['ci1', 'ci2'])
      expect(results.filter(({ worker }) => worker === name).length).toBeGreaterThanOrEqual(6);
    const places = { ci1: `${bench.folder}/jobs/`, ci2: `${bench.folder}/jobs/.executors/2/` };
    for (const { build, worker } of results)
      expect(await logOf(build)).toContain(`| ${worker === 'ci1' ? places.ci1 : places.ci2}${build}/`);
    expect(await bench.store.children(bench.builds.claimedPath)).toEqual([]);
  }, 60_000);

  it('leave each other alone when one is started while the other is busy', async () => {
    const request = await requestBuild(await commitScript('echo begun; sleep 2; echo done'));
    await start(startExecutor((await bench.machine('ci1')).core));
    await logHolds(request.uuid, '| begun');
    await start(startExecutor((await bench.machine('ci2')).core));
    const [result] = await resultsOf(1);
    expect(result).toMatchObject({ result: 'SUCCESS', worker: 'ci1' });
  });

  it('cost few round trips per build: three writes, the list and the heads of the queue, one read of its own claim', async () => {
    const commit = await commitScript('true');
    for (let count = 0; count < 10; count += 1) await requestBuild(commit);
    const calls = new Map<string, number>();
    const machine = await bench.machine('ci1', { paused: true, session: behind => counting(behind, calls) });
    const component = await start(startExecutor(machine.core));
    calls.clear();
    component.resume();
    await resultsOf(10);
    const per = (name: string) => (calls.get(name) ?? 0) / 10;
    // A free slot reads once more, in vain or because another worker was first: hence the fractions.
    expect(per('multi')).toBeLessThanOrEqual(3.5);
    expect(per('children')).toBeLessThanOrEqual(2.6);
    expect(per('getMany')).toBeLessThanOrEqual(2.6);
    expect(per('get')).toBeLessThanOrEqual(0.5);
    expect(per('sync')).toBeLessThanOrEqual(0.1);
  });
});

/**
 * Counts the calls by name; not the signs of life, whose number depends on the time it takes, nor the table of hosts, which an executor
 * reads once when it has started.
 */
function counting(behind: Store, calls: Map<string, number>): Store {
  return new Proxy(behind, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return (...given: readonly unknown[]) => {
        if (!isSign(given[0]) && !isOfHosts(given[0]))
          calls.set(String(name), (calls.get(String(name)) ?? 0) + 1);
        return value.apply(target, given);
      };
    },
  });
}

function isOfHosts(paths: unknown): boolean {
  return [paths].flat().some(path => String(path).includes('/nodes'));
}

function isSign(operations: unknown): boolean {
  return Array.isArray(operations) && operations.some(each => String(each.path).includes('/alive/'));
}

describe('an executor component', () => {
  it('takes nothing while it is paused, lets what runs end, and goes on when it is resumed', async () => {
    const commit = await commitScript('echo begun; sleep 0.4');
    const first = await requestBuild(commit);
    const component = await start(startExecutor((await bench.machine('ci1')).core));
    await logHolds(first.uuid, '| begun');
    component.pause();
    const second = await requestBuild(commit);
    expect((await resultsOf(1)).map(({ build }) => build)).toEqual([first.uuid]);
    expect(await bench.store.children(bench.builds.claimedPath)).toEqual([]);
    component.resume();
    expect((await resultsOf(2)).map(({ build }) => build)).toContain(second.uuid);
  });

  it('begins paused if configured', async () => {
    const request = await requestBuild(await commitScript('true'));
    const component = await start(startExecutor((await bench.machine('ci1', { paused: true })).core));
    component.pause();
    expect(await bench.started()).toEqual([]);
    component.resume();
    expect((await resultsOf(1))[0]).toMatchObject({ build: request.uuid, result: 'SUCCESS' });
  });

  it('is drained when what runs has ended and its result is stored', async () => {
    const commit = await commitScript('echo begun; sleep 0.4');
    const request = await requestBuild(commit);
    const component = await start(startExecutor((await bench.machine('ci1')).core));
    await logHolds(request.uuid, '| begun');
    const drained = component.drain();
    const late = await requestBuild(commit);
    await drained;
    expect(await bench.results()).toMatchObject([{ build: request.uuid, result: 'SUCCESS' }]);
    expect((await bench.builds.overview()).names.join()).toContain(late.uuid);
    component.resume();
    await component.close();
    expect((await bench.builds.overview()).names).toHaveLength(1);
  });

  it('kills its builds when it is closed; they are RETRY, never a verdict', async () => {
    const request = await requestBuild(await commitScript('echo begun; sleep 4761'));
    const component = await start(startExecutor((await bench.machine('ci1')).core));
    await logHolds(request.uuid, '| begun');
    const drained = component.drain();
    await component.close();
    await drained;
    expect(await bench.results()).toMatchObject([{ result: 'RETRY', detail: 'the executor was stopped' }]);
    expect(await processesWith('4761')).toEqual([]);
  });

  it('is closed although the store is out of contact: its builds die, their claims go with its session', async () => {
    const request = await requestBuild(await commitScript('echo begun; sleep 4763'));
    let between: FaultyStore | undefined;
    const { core } = await bench.machine('ci1', {
      session: behind => {
        between = new FaultyStore(behind);
        return between;
      },
    });
    const component = await start(startExecutor(core));
    await logHolds(request.uuid, '| begun');
    between?.suspend();
    await component.close();
    expect(await processesWith('4763')).toEqual([]);
    expect(await bench.results()).toEqual([]);
    expect((await abandonedRequests(bench.builds)).map(each => each.request.uuid)).toEqual([request.uuid]);
  });

  it('kills its builds at once when its session is lost, says nothing of them, and begins again in the same process', async () => {
    // One may be kept unused between two executors, and this test may be the first to start one.
    const most = Math.max(await spawners(), 1);
    const commit = await commitScript('echo begun; sleep 4762');
    const machine: Machine = await bench.machine('ci1');
    for (let round = 1; round <= 3; round += 1) {
      const request = await requestBuild(commit);
      const component = await start(startExecutor(machine.core));
      await logHolds(request.uuid, '| begun');
      const lostAt = performance.now();
      await bench.server.expire(machine.session().sessionId);
      await expect(component.ended).rejects.toMatchObject({ code: 'SessionExpired' });
      await until(
        async () => ((await processesWith('4762')).length === 0 ? true : undefined),
        'the job to be gone',
      );
      expect(performance.now() - lostAt).toBeLessThan(5_000 * slowness());
      await component.close();
      expect(await spawners()).toBeLessThanOrEqual(most);
      const [abandoned] = await abandonedRequests(bench.builds);
      expect(abandoned?.request.uuid).toBe(request.uuid);
      if (abandoned !== undefined) await bench.store.multi(discarded(bench.builds, abandoned));
    }
    expect(await bench.results()).toEqual([]);
    const quick = await requestBuild(await commitScript('true'));
    await start(startExecutor(machine.core));
    expect((await resultsOf(1))[0]).toMatchObject({ build: quick.uuid, result: 'SUCCESS' });
    // Each start took the directory its predecessor had given back.
    expect(await readdir(join(bench.folder, 'jobs'))).not.toContain('.executors');
    expect(machine.warnings.join('\n')).toContain('a build was killed because its claim was lost');
  }, 60_000);

  it('runs the tested merge of a merger whose mirrors it cannot see', async () => {
    const tip = await commitScript('cat own ahead; git log -1 --format=%s');
    const change = async (id: string, file: string) => {
      const ref = `refs/pull/${id}/head`;
      const commit = parseCommitId(
        await bench.host.commit({ ref, parents: [tip], files: { [file]: `${file}\n` } }),
      );
      return {
        change: changeKey(PROJECT, id),
        project: PROJECT,
        branch: 'main',
        ref,
        commit,
        message: `Merge ${id}`,
      };
    };
    const inputs = [await change('1', 'ahead'), await change('2', 'own')];
    const { core } = await bench.machine('merger1', { git: 'git-of-merger' });
    const outcome = await serveRequest(
      { ...core, remote: async () => ({ url: bench.host.url }), worker: 'merger1' },
      mergeRequest(inputs),
    );
    if (outcome.kind !== 'merged') throw new Error(JSON.stringify(outcome));
    const { item } = itemStory();
    const tested = { branches: outcome.branches, heads: outcome.heads };
    await bench.storeItem({ ...item, buildset: { ...item.buildset, stage: { state: 'merged', tested } } });
    const commit = outcome.branches[0]?.commit ?? '';
    const request = buildRequest(
      commit,
      { run: ['ci/run.sh'] },
      { item: item.uuid, buildset: item.buildset.uuid, projects: [projectAt(commit)] },
    );
    await bench.builds.submitNow(request);
    await start(startExecutor((await bench.machine('ci1', { git: 'git-of-executor' })).core));
    const [result] = await resultsOf(1);
    expect([result?.result, result?.detail]).toEqual(['SUCCESS', undefined]);
    const steps = result?.execution?.steps.map(({ kind }) => kind) ?? [];
    expect(steps).toContain('BuildRepoUpdate');
    expect(await logOf(request.uuid)).toMatch(/\| own\n.*\| ahead\n.*\| Merge 2/);
  });

  it('publishes where its logs can be read, and closes that with itself', async () => {
    const request = await requestBuild(await commitScript('echo hello'));
    const { core } = await bench.machine('ci1', { executor: 'log_port = 0' });
    const component = await start(startExecutor(core));
    await resultsOf(1);
    const address = component.offers?.address ?? '';
    const place = { address, secret: undefined };
    const part = await fetchLog(place, request.uuid, 0, 100_000, AbortSignal.timeout(5_000));
    expect(part?.bytes.toString()).toContain('| hello');
    await component.close();
    await expect(fetchLog(place, request.uuid, 0, 100, AbortSignal.timeout(5_000))).rejects.toThrow();
  });
});

describe('a merger component', () => {
  const waiting = async () => (await bench.merges.overview()).names.length;
  const isServed = () =>
    until(async () => ((await waiting()) === 0 ? true : undefined), 'the request to be served');

  it('takes nothing while it is paused, and everything when it is resumed', async () => {
    await commitScript('true');
    const component = await start(startMerger((await bench.machine('m1', { paused: true })).core));
    await bench.merges.submitNow(configFilesRequest('acme/app'));
    const other = await start(startMerger((await bench.machine('m2')).core));
    await isServed();
    other.pause();
    await bench.merges.submitNow(configFilesRequest('acme/app'));
    component.resume();
    await isServed();
    await component.drain();
    await bench.merges.submitNow(configFilesRequest('acme/app'));
    other.resume();
    await isServed();
  });

  it('ends with its session, paused or not, and begins again in the same process', async () => {
    await commitScript('true');
    const machine = await bench.machine('m1');
    for (let round = 0; round < 3; round += 1) {
      const component = await start(startMerger(machine.core));
      await bench.merges.submitNow(configFilesRequest('acme/app'));
      await isServed();
      await bench.server.expire(machine.session().sessionId);
      await expect(component.ended).rejects.toMatchObject({ code: 'SessionExpired' });
      await component.close();
    }
  });
});
