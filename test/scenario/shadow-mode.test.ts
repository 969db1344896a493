/** A tenant in shadow mode at the contract's host and at plain git: all of it runs, and no host, server or broker is written to. */
import { afterAll, expect } from 'vitest';
import type { LiveItem } from '../../src/api/live-item.ts';
import { openMailServer } from '../fake/mail-server.ts';
import { contractLayout, contractOf } from './contract-host-stories.ts';
import { TENANT } from './site.ts';
import { story } from './story.ts';
import type { World } from './world.ts';

const SHADOW = { tenantOptions: ['shadow-mode: true'] };
const mails = await openMailServer();
afterAll(() => mails.close());
const MAIL = [
  '[connection mail]',
  'driver = smtp',
  'server = 127.0.0.1',
  `port = ${mails.port}`,
  'default_from = gate@example.org',
];
const PLAIN = contractLayout('merge').replace('merge: merge', 'merge: true');
const layout = PLAIN.replaceAll('    success:\n', '    success:\n      mail: {to: all@example.org}\n');

async function refsOf(world: World): Promise<string> {
  return world.developer('org/project').git('for-each-ref');
}

story(
  'what passes and what fails in shadow mode leaves the repository as it was',
  { layout, sections: MAIL, ...SHADOW },
  async world => {
    world.fail('unit', 'B');
    for (const topic of ['A', 'B', 'C']) await world.propose(topic);
    for (const topic of ['A', 'B', 'C']) await world.approve(topic);
    await world.runs('unit: A', 'unit: A B', 'unit: A B C');
    const before = await refsOf(world);
    world.release(/unit: A$/);
    const passed = await world.leaves('A', 'SUCCESS');
    expect(passed.reason).toBe('not-reported');
    world.free();
    expect((await world.leaves('B', 'FAILURE')).resets).toBe(0);
    await world.leaves('C', 'SUCCESS');
    expect(await refsOf(world)).toBe(before);
    expect(await world.landed()).toEqual([]);
    expect(mails.taken).toEqual([]);

    const document = await world.api.get<LiveItem>(`/api/tenant/${TENANT}/item/${passed.uuid}`);
    expect(document.left).toMatchObject({
      reason: 'not-reported',
      text: 'not reported: the tenant is in shadow mode',
    });
    expect(document.withheld).toMatchObject({
      action: 'success',
      message: expect.stringContaining('Build succeeded (gate).'),
      parts: [{ connection: 'local', text: expect.stringMatching(/^would have landed the change, with \{/) }],
    });
    const explained = await world.api.get<LiveItem>(`/api/tenant/${TENANT}/item/${passed.uuid}/explain`);
    expect(explained.withheld).toEqual(document.withheld);
    const spans = () =>
      world.sink.spans.filter(({ attributes }) => attributes['gatehouse.reason'] === 'shadow-mode');
    await world.observer.until('the spans', () => spans().length > 0);
    expect(spans()[0]?.attributes).toMatchObject({ 'gatehouse.report.outcome': 'withheld' });
  },
);

story('a change that another gate lands is tested to its end', { layout: PLAIN, ...SHADOW }, async world => {
  const commit = await world.propose('A');
  await world.propose('B');
  for (const topic of ['A', 'B']) await world.approve(topic);
  await world.runs('unit: A', 'unit: A B');
  await world.push('org/project', commit, 'refs/heads/master');
  await world.push('org/project', null, 'refs/heads/for/master/A');
  await world.runs('unit: A', 'unit: A B');
  world.free();
  for (const topic of ['A', 'B'])
    expect(await world.leaves(topic, 'SUCCESS')).toMatchObject({ reason: 'not-reported', resets: 0 });
});

story(
  'no write reaches a host with an API',
  { layout: contractLayout('merge'), contractHost: true, ...SHADOW },
  async world => {
    world.fail('unit', 'B');
    for (const topic of ['A', 'B']) await world.propose(topic);
    for (const topic of ['A', 'B']) await world.approve(topic);
    world.free();
    await world.leaves('A', 'SUCCESS');
    await world.leaves('B', 'FAILURE');
    for (const topic of ['A', 'B'])
      expect(contractOf(world).reports('org/project', `master/${topic}`)).toEqual([]);
    expect(contractOf(world).calls.filter(call => /^(merge|comment|topic) /.test(call))).toEqual([]);
  },
);
