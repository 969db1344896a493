/** No password, key or token of a connection is where it does not belong, also when Gerrit fails and says them back. */
import { readdir, readFile } from 'node:fs/promises';
import { expect } from 'vitest';
import { filesBelow } from '../../github/stories/secrets.ts';
import { TOKEN } from '../../scenario/site.ts';
import { ourMessages } from './change-outcomes.ts';
import { gerritStory } from './gerrit-world.ts';

const PASSWORD = 'gatehouse-password';
const PAIR = Buffer.from(`gatehouse:${PASSWORD}`).toString('base64');

gerritStory(
  'no secret is in spans, log, store, API, reports or argument lists',
  { keepsLog: true, expectedTrouble: [/./] },
  async world => {
    const { gerrit, api, observer, sink, log } = world;
    const key = await keyOf(gerrit.world.root);
    const change = await world.push();
    await world.runs('unit: 1');
    // Gerrit, or a proxy before it, answers with what it was sent.
    const message = `no server takes ${PASSWORD} or Basic ${PAIR}`;
    const echo = { kind: 'status', status: 500, message } as const;
    gerrit.faults.add({ operation: 'changes/detail', times: 2, does: echo });
    gerrit.faults.add({ operation: 'changes/review', does: { ...echo, status: 403 } });
    gerrit.faults.add({ operation: 'changes/review', does: echo });
    gerrit.faults.add({ operation: 'changes/submit', does: { ...echo, status: 409 } });
    world.free();
    await world.leaves(change, 'SUCCESS', 'check');
    gerrit.faults.add({ operation: 'git/fetch', times: 2, does: echo });
    gerrit.faults.add({ operation: 'git/fetch', does: { kind: 'hang' } });
    const fetches = () => gerrit.count('git/fetch');
    const before = fetches();
    const other = await world.push();
    await observer.until('git to fetch', () => fetches() > before);
    const argumentLists = (await running()).join('\n');
    gerrit.faults.heal();
    await world.leaves(other, 'SUCCESS', 'check');
    const refused = await fetch(`${world.service.url}/api/connection/local/payload?token=wrong-${TOKEN}`, {
      method: 'POST',
    });
    expect(refused.status).toBe(401);

    const paths = ['status', 'items?limit=100', `changes/${other.number}/decisions?project=acme/app`];
    const answers = await Promise.all(paths.map(each => api.get(`/api/tenant/tenant-one/${each}`)));
    const places = {
      spans: sink.requests.map(({ body }) => body.toString('latin1')).join('\n'),
      log: log.all.join('\n'),
      store: await filesBelow(world.state),
      api: JSON.stringify(answers),
      reports: JSON.stringify([change, other].map(ourMessages)),
      arguments: argumentLists,
    };
    const secrets = [PASSWORD, PAIR, TOKEN, ...key];
    for (const [place, text] of Object.entries(places)) {
      expect([place, text.length > 100]).toEqual([place, true]);
      expect([place, secrets.filter(secret => text.includes(secret))]).toEqual([place, []]);
    }
  },
);

/** Lines of the account's private key. */
async function keyOf(root: string): Promise<readonly string[]> {
  const text = await readFile(`${root}/gatehouse.key`, 'utf8');
  return text.split('\n').filter(line => line.length > 40 && !line.startsWith('-'));
}

/** Arguments of every process of this machine. */
async function running(): Promise<readonly string[]> {
  const ids = (await readdir('/proc')).filter(name => /^\d+$/.test(name));
  const read = ids.map(id => readFile(`/proc/${id}/cmdline`, 'latin1').catch(() => ''));
  return (await Promise.all(read)).map(text => text.replaceAll('\0', ' '));
}
