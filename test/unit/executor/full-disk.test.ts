/** F25: a disk of an executor is full. No verdict on a change comes of it, no claim is left behind, and it takes no build meanwhile. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { createDiskRoom } from '../../../src/lib/disk-room.ts';
import { describeOnSmallDisk, smallDisk } from '../../setup/small-disk.ts';
import { buildRequest, openBench, script } from './fixture.ts';

describeOnSmallDisk('an executor', () => {
  test('whose job directory is full takes builds again when there is room', async () => {
    await using disk = await smallDisk(64);
    const reported: (string | undefined)[] = [];
    const room = createDiskRoom([disk.path], { onChange: trouble => reported.push(trouble), retryMs: 20 });
    await using bench = await openBench({ jobDir: join(disk.path, 'jobs') }, { room });
    const commit = await bench.commit({ 'ci/ok.sh': script('true') });
    await disk.fill(0);
    const first = bench.submit(buildRequest(commit, { run: ['ci/ok.sh'] }));
    // It may have been waiting for this very build when the disk filled: then it hands it back.
    await vi.waitUntil(() => reported.length === 1, { timeout: 20_000 });
    expect(reported[0]).toMatch(/^the disk of .* is full: 0 MB/);
    expect((await first.ended).result).toMatchObject({ result: 'RETRY', workerEnd: 'outage' });
    // Its place is free a moment after its result is out.
    await vi.waitUntil(() => bench.executor.running().length === 0, { timeout: 20_000 });
    const second = bench.submit(buildRequest(commit, { run: ['ci/ok.sh'] }));
    expect(bench.executor.running()).toEqual([]);
    await disk.empty();
    expect((await second.ended).result.result).toBe('SUCCESS');
    expect(reported).toEqual([expect.any(String), undefined]);
  });

  test('whose log directory is full hands the build back instead of keeping it for ever', async () => {
    await using disk = await smallDisk(64);
    const logDir = join(disk.path, 'logs');
    await mkdir(logDir);
    const room = createDiskRoom([disk.path], { onChange: () => {}, retryMs: 20 });
    await using bench = await openBench({ logDir }, { room });
    const commit = await bench.commit({ 'ci/ok.sh': script('true') });
    await disk.fill(0);
    const { result } = await bench.submit(buildRequest(commit, { run: ['ci/ok.sh'] })).ended;
    expect(result).toMatchObject({ result: 'RETRY', workerEnd: 'outage' });
    expect(result.detail).toContain('no space left on device');
  });

  test('does not call a job failed that failed while the disk was full', async () => {
    await using disk = await smallDisk(64);
    const room = createDiskRoom([disk.path], { onChange: () => {}, retryMs: 20 });
    await using bench = await openBench({ jobDir: join(disk.path, 'jobs') }, { room });
    const body =
      'echo begun; while :; do dd if=/dev/zero of=part bs=64k count=16 oflag=append conv=notrunc 2>/dev/null || exit 1; done';
    const commit = await bench.commit({ 'ci/fill.sh': script(body), 'ci/ok.sh': script('true') });
    const { result } = await bench.submit(buildRequest(commit, { run: ['ci/fill.sh'] })).ended;
    expect(result).toMatchObject({ result: 'RETRY', workerEnd: 'outage' });
    expect(result.detail).toMatch(/ended with status 1, and the disk of .* is full/);
    await vi.waitUntil(async () => (await room.trouble()) === undefined, { timeout: 20_000 });
    expect((await bench.submit(buildRequest(commit, { run: ['ci/ok.sh'] })).ended).result.result).toBe(
      'SUCCESS',
    );
  });
});
