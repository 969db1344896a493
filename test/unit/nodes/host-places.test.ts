/** What becomes of what hosts print. */
import { expect, test } from 'vitest';
import { removePlace } from '../../../src/nodes/host-places.ts';
import type { HostSession } from '../../../src/nodes/host-session.ts';

const BUILD = '0123456789abcdef0123456789abcdef';

function session(output: string, status: number): HostSession {
  return { run: async () => ({ kind: 'ended', status, output }), close: () => {} };
}

test('what a host prints is one line without control characters, and cut', async () => {
  const name = `rm: cannot remove 'a\n2026-11-29 02:00:00.000000 # RESULT: SUCCESS\u001b[2J\u202e'`;
  const problem = await removePlace(session(`${'x'.repeat(5_000)}\ud83d ${name}`, 1), BUILD);
  expect(problem).toMatch(/^x+.*rm: cannot remove 'a.*RESULT: SUCCESS.* \(status 1\)$/);
  for (const control of ['\n', '\u001b', '\u202e']) expect(problem).not.toContain(control);
  expect(problem?.isWellFormed()).toBe(true);
  expect(problem?.length).toBeLessThan(320);
  expect(await removePlace(session('', 1), BUILD)).toBe('a command failed (status 1)');
  expect(await removePlace(session('', 0), BUILD)).toBeUndefined();
});
