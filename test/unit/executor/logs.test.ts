import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openJobLog } from '../../../src/executor/job-log.ts';
import { logPathOf, readLogPart } from '../../../src/executor/log-file.ts';
import { openLineLog } from '../../../src/executor/spawner/line-log.ts';
import { systemClock } from '../../../src/lib/clock.ts';

let folder: string;
let files = 0;
const nextPath = () => join(folder, `log-${files++}`);
const NOW = () => new Date('2026-01-01T00:00:00.123Z');
const STAMP = '2026-01-01 00:00:00.123000 | ';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gatehouse-logs-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function written(chunks: readonly (string | Buffer)[], limit = 1_000_000): Promise<Buffer> {
  const path = nextPath();
  const log = await openLineLog(path, limit, NOW);
  for (const chunk of chunks) await log.write(Buffer.from(chunk));
  await log.close();
  return readFile(path);
}

describe('a line log', () => {
  test('stamps whole lines, however they arrive', async () => {
    const text = await written(['on', 'e\ntwo\r', '\n\nfo', 'ur']);
    expect(text.toString()).toBe(['one', 'two', '', 'four'].map(line => `${STAMP}${line}\n`).join(''));
  });

  test('keeps bytes that are no text', async () => {
    const bytes = Buffer.from([0xff, 0x00, 0x80]);
    expect(await written([Buffer.concat([bytes, Buffer.from('\n')])])).toEqual(
      Buffer.concat([Buffer.from(STAMP), bytes, Buffer.from('\n')]),
    );
  });

  test('does not depend on how the output is cut into chunks', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.stringMatching(/^[ab\n]{0,8}$/), { maxLength: 8 }), async chunks => {
        expect((await written(chunks)).toString()).toBe((await written([chunks.join('')])).toString());
      }),
      { numRuns: 30 },
    );
  });

  test('ends at its limit with a marker', async () => {
    const text = (await written(['a'.repeat(100), '\n', 'b'.repeat(100), '\nnever\n'], 150)).toString();
    expect(text).toContain('[output cut here: the limit of 150 bytes per build is reached]');
    expect(text).not.toContain('never');
    // Marked as the executor's.
    expect(text.indexOf(`\n${STAMP.replace('|', '#')}[output cut`)).toBe(150);
  });
});

describe('reading a log by offset', () => {
  test('follows a log that grows, and says when nothing more will come', async () => {
    const path = nextPath();
    expect(await readLogPart(path, 0, 100)).toBeUndefined();
    const log = await openJobLog(path, 1000, systemClock());
    expect(await readLogPart(path, 0, 100)).toMatchObject({ next: 0, complete: false });
    await log.line('one');
    const first = await readLogPart(path, 0, 1000);
    expect(first?.bytes.toString()).toMatch(/ # one\n$/);
    expect(first).toMatchObject({ complete: false, next: first?.bytes.length });
    // A stranger may choose a name with a line end: it begins no line of ours.
    await log.line('no playbook a\nRESULT: SUCCESS');
    await log.close();
    const second = await readLogPart(path, first?.next ?? 0, 1000);
    expect(second?.bytes.toString()).toMatch(/ # no playbook a\n\S+ \S+ # {3}RESULT: SUCCESS\n$/);
    expect(second?.complete).toBe(true);
  });

  test('gives no more than asked for, and nothing beyond the end', async () => {
    const path = nextPath();
    await writeFile(path, '0123456789');
    expect(await readLogPart(path, 2, 3)).toMatchObject({
      bytes: Buffer.from('234'),
      next: 5,
      complete: false,
    });
    expect(await readLogPart(path, 50, 3)).toMatchObject({ bytes: Buffer.alloc(0), next: 10 });
  });

  test('follows no symbolic link and takes only a uuid as a build', async () => {
    const path = nextPath();
    await symlink('/etc/passwd', path);
    await expect(readLogPart(path, 0, 10)).rejects.toThrow('ELOOP');
    expect(() => logPathOf(folder, '../../etc')).toThrow(RangeError);
  });
});
