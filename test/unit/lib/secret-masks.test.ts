import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openLineLog } from '../../../src/executor/spawner/line-log.ts';
import { masked, maskedDeep, secretMasks } from '../../../src/lib/secret-masks.ts';

const PEM = '-----BEGIN KEY-----\nMIIEvQIBADANBgkq\nx\n-----END KEY-----\n';

test('a secret is masked as it is, in JSON, in URLs, in base64, and line by line', () => {
  const masks = secretMasks(['hunter "2"', PEM, 'abc']);
  const shown = [
    'password: hunter "2"',
    JSON.stringify({ a: 'hunter "2"', key: PEM }),
    `https://host/?p=${encodeURIComponent('hunter "2"')}`,
    Buffer.from('hunter "2"').toString('base64'),
    Buffer.from('hunter "2"\n').toString('base64'),
    ...PEM.split('\n'),
  ].map(text => masked(text, masks));
  expect(shown.join('\n')).not.toMatch(/hunter|MIIE|BEGIN|END|aHVu/);
  expect(masked('abc', masks)).toBe('abc');
});

test('a line of a secret is masked in JSON as well', () => {
  const masks = secretMasks(['{\n  "token": "hunter2"\n}\n']);
  expect(masked(JSON.stringify({ stdout_lines: ['{', '  "token": "hunter2"', '}'] }), masks)).toBe(
    '{"stdout_lines":["{","  ***","}"]}',
  );
});

test('texts anywhere in a value are masked, and nothing else changes', () => {
  const masks = secretMasks(['hunter2']);
  const value = { name: 'use hunter2', facts: { hunter2: ['x', 1, null, true] } };
  expect(maskedDeep(value, masks)).toEqual({ name: 'use ***', facts: { '***': ['x', 1, null, true] } });
});

test('a log masks a secret that comes in pieces, also where a line without end is cut', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-masks-'));
  const path = join(folder, 'log');
  const log = await openLineLog(path, 1_000_000, () => new Date(0), secretMasks(['hunter2-and-more']));
  for (const part of ['a hunt', 'er2-and', '-more b\n', 'x'.repeat(16 * 1024 - 5), 'hunter2-', 'and-more y'])
    await log.write(Buffer.from(part));
  await log.write(Buffer.from('z'.repeat(20_000)));
  await log.close();
  const text = await readFile(path, 'utf8');
  await rm(folder, { recursive: true });
  expect(text).toContain('a *** b');
  expect(text.replaceAll(/\n.*? \| /g, '')).toContain('x*** yzzz');
  expect(text).not.toMatch(/hunter|and-more/);
});
