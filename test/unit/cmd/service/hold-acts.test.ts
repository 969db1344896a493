/** How long a request to hold hosts lasts, by what it asks for and what the settings allow. */
import { expect, test } from 'vitest';
import { holdActs } from '../../../../src/cmd/service/hold-acts.ts';
import { liveTracing } from '../../../../src/cmd/service/live-tracing.ts';
import { randomIds } from '../../../../src/lib/ids.ts';
import { parseSettings } from '../../../../src/settings/parse-settings.ts';
import { openEmbeddedStore } from '../../../../src/store/embedded/server.ts';
import { storePaths } from '../../../../src/store/paths.ts';
import { at } from '../../../fake/queue-item.ts';

/** @returns seconds that the request lasts; 0: until it is deleted. */
async function lasting(settings: string, expiration: number | null): Promise<number | undefined> {
  const content = new TextEncoder().encode(`[scheduler]\ntenant_config = x\n${settings}\n`);
  const parsed = parseSettings({ content, file: 'x.conf', directory: '/', environment: {} });
  if (parsed.kind === 'invalid') throw new Error(JSON.stringify(parsed.problems));
  await using server = openEmbeddedStore({ file: ':memory:' });
  const clock = { now: () => at(70), monotonic: () => 0 };
  const tracing = liveTracing(parsed.settings.tracing, new Map(), () => 'http://gate.example.org');
  const core = { paths: storePaths('/gatehouse'), clock, ids: randomIds(), host: 'web1' };
  const acts = holdActs({ ...core, tracing, settings: parsed.settings }, server.connect());
  const request = { tenant: 'acme', by: 'alice', receivedAt: at(69), context: undefined };
  const wanted = { project: 'git.example.org/app', job: 'unit', filter: { on: 'all' }, maxCount: 1 } as const;
  await acts.hold?.(request, { ...wanted, reason: 'look at it', expiration });
  return (await acts.holds('acme'))[0]?.hold.expiration;
}

test.each([
  ['max_hold_expiration = 600', 300, 300],
  ['max_hold_expiration = 600', 601, 600],
  // Without end.
  ['max_hold_expiration = 600', 0, 600],
  ['max_hold_expiration = 600', null, 600],
  ['max_hold_expiration = 600\ndefault_hold_expiration = 60', null, 60],
  ['', 0, 0],
  ['', 1_000_000, 1_000_000],
  ['', null, 86_400],
])('with %j a request for %j seconds lasts %j', async (settings, wanted, seconds) => {
  expect(await lasting(settings, wanted)).toBe(seconds);
});
