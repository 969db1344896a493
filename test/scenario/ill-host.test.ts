/** The code host is in trouble while changes are in the gate: no item leaves, and all go on when it recovers. */
import { expect } from 'vitest';
import type { ConnectionsDocument } from '../../src/api/connections.ts';
import { classicLayout, layoutWith } from './layouts.ts';
import { story } from './story.ts';
import type { World } from './world.ts';

const TROUBLE = [
  /could not (report|land)/,
  /cannot poll a project; trying again/,
  /waits for the code host/,
  /Unable to update/,
];

function ill(world: World) {
  if (world.host === undefined) expect.unreachable('the story is not over HTTP');
  return world.host;
}

story(
  'five changes wait out a host that answers 403, one asks for all, and all land in their order',
  { layout: classicLayout(), overHttp: true, expectedTrouble: TROUBLE },
  async world => {
    const topics = ['A', 'B', 'C', 'D', 'E'];
    for (const topic of topics) await world.propose(topic);
    world.fail('project-merge', 'A');
    for (const topic of topics) await world.approve(topic);
    await world.observer.until('all to be in the gate', () => world.queued().length === topics.length);
    await world.runs('project-merge: A');
    expect(world.queued()).toEqual(topics);

    // The head fails: it cannot be reported, and the items behind cannot be merged again.
    ill(world).ail(() => ({ kind: 'status', status: 403 }));
    world.release(/project-merge: A$/);
    await world.observer.until('all to wait for the host', () =>
      topics.every(topic => world.item(topic)?.state.name === 'host'),
    );
    expect(world.item('A')?.hostWait).toMatchObject({
      doing: 'report',
      reason: 'limited',
      project: 'org/project',
    });
    expect(world.item('B')?.state.subject).toBe('local');
    expect(world.queued()).toEqual(topics);
    const asked = ill(world).requests.length;
    await world.observer.until('the host to be asked again', () =>
      topics.some(topic => (world.item(topic)?.hostWait?.tries ?? 0) >= 3),
    );
    // Three tries of five items, their notes and the polls: bounded by the rate, not by the number of items.
    expect(ill(world).requests.length - asked).toBeLessThan(40);

    ill(world).heal();
    world.free();
    await world.leaves('A', 'FAILURE');
    for (const topic of topics.slice(1)) await world.leaves(topic, 'SUCCESS');
    expect(await world.landed()).toEqual(['B', 'C', 'D', 'E']);
    const codes = (await world.decisions('B')).map(({ code }) => code);
    expect(codes).toContain('waits-for-host');
    expect(codes).toContain('host-recovered');
    const [note = ''] = (await world.notes('A')).slice(-1);
    expect(note).toContain('Build failed');
    // A port or an id may contain these digits.
    expect(note).not.toMatch(/\b403\b/);
  },
);

story(
  'a landing whose reply is lost, at a host that then fails, is found done and tested no second time',
  { layout: classicLayout(), overHttp: true, expectedTrouble: TROUBLE },
  async world => {
    await world.propose('A');
    await world.approve('A');
    await world.runs('project-merge: A');
    world.release(/./);
    await world.runs('project-test1: A', 'project-test2: A');
    let landed = false;
    ill(world).ail(({ service, step }) => {
      if (landed) return { kind: 'status', status: 503 };
      landed = service === 'git-receive-pack' && step === 'exchange';
      return landed ? { kind: 'lose-reply' } : undefined;
    });
    world.free();
    await world.observer.until('the landing to wait', () => world.item('A')?.state.name === 'host');
    expect(world.item('A')?.hostWait).toMatchObject({ doing: 'report' });
    expect(await world.developer('org/project').git('log', '--format=%s', '-1', 'master')).toContain('Merge');
    ill(world).heal();
    const left = await world.leaves('A', 'SUCCESS');
    expect(left.resets).toBe(0);
    expect(await world.landed()).toEqual(['A']);
  },
);

async function healthOf({ service }: World) {
  const response = await fetch(`${service.url}/api/connections`);
  const connections = (await response.json()) as ConnectionsDocument;
  return connections[0]?.gatehouse.health;
}

const PROJECTS = ['org/project', 'org/project1', 'org/project2'];
const ONE_JOB = PROJECTS.map(name => `\n- project:\n    name: ${name}\n    gate: {jobs: [unit]}\n`);

story(
  'a repository that hangs and one that is limited delay no change of a third, and go on when they are served',
  {
    layout: layoutWith(`\n- job:\n    name: unit\n${ONE_JOB.join('')}`),
    overHttp: true,
    expectedTrouble: TROUBLE,
  },
  async world => {
    await world.propose('A');
    await world.propose('B', { project: 'org/project1' });
    await world.propose('C', { project: 'org/project2' });
    await world.observer.settle();
    ill(world).ail(({ project }) => {
      if (project === 'org/project1') return { kind: 'hang' };
      return project === 'org/project2' ? { kind: 'status', status: 429 } : undefined;
    });
    const processed = [world.approve('B'), world.approve('C')];
    await world.observer.until('both repositories to be asked', () => {
      const ailments = new Set(ill(world).requests.map(({ ailment }) => ailment));
      return ailments.has('hang') && ailments.has('status');
    });
    world.free();
    await world.approve('A');
    await world.leaves('A', 'SUCCESS');
    expect(await world.landed()).toEqual(['A']);
    await world.observer.until('the limited repository to be reported', async () => {
      const health = await healthOf(world);
      return health?.waiting.some(
        ({ lane, reason }) => lane === 'local/org/project2' && reason === 'limited',
      );
    });
    expect(await healthOf(world)).toMatchObject({ missed: 0 });

    ill(world).heal();
    await Promise.all(processed);
    await world.observer.until('the host to serve again', async () => {
      const health = await healthOf(world);
      return health?.state === 'serving' && health.waiting_count === 0;
    });
    for (const topic of ['B', 'C']) await world.leaves(topic, 'SUCCESS');
    const waits = () =>
      world.sink.spans.filter(span => span.attributes['gatehouse.span.type'] === 'HostWait');
    await world.observer.until('the wait to be exported', () =>
      waits().some(span => span.attributes['gatehouse.reason'] === 'limited'),
    );
  },
);
