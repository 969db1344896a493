import { expect } from 'vitest';
import { classicLayout } from './layouts.ts';
import { story } from './story.ts';

const NAMES = [
  '$(touch owned)',
  '`id`',
  ';reboot',
  "quote'd",
  'per%cent',
  'ünïcode',
  '-dash',
  '<script>',
  'a'.repeat(180),
];

story(
  'refs with names made to hurt are gated like any other, or refused with a reason',
  { layout: classicLayout() },
  async world => {
    const developer = world.developer('org/project');
    const commits = new Map<string, string>();
    for (const name of NAMES) {
      const topic = name.replaceAll(' ', '\u00a0');
      const commit = await developer.commit({
        files: { [`${commits.size}.txt`]: `${name}\n` },
        message: `Name ${commits.size}`,
      });
      commits.set(topic, commit);
      await developer.push(commit, `refs/heads/for/master/${topic}`);
      await developer.push(commit, `refs/heads/gate/master/${topic}`);
    }
    // Not of any form we know: a topic with a slash, a branch that does not exist, hidden and foreign namespaces.
    const [some = ''] = commits.values();
    for (const ref of [
      'refs/heads/for/master/a/b',
      'refs/heads/for/nowhere/x',
      'refs/heads/gate/master/nobody',
      'refs/foreign/for/master/x',
      'refs/heads/for/x',
    ])
      await developer.push(some, ref);
    world.free();
    await world.propose('Z');
    await world.approve('Z');
    await world.leaves('Z', 'SUCCESS');

    const finished = await world.observer.until('all of them to have left', async () => {
      const all = (await world.observer.finished()).filter(item => item.pipeline === 'gate');
      return all.length >= NAMES.length + 1 ? all : undefined;
    });
    expect(new Set(finished.map(item => item.result))).toEqual(new Set(['SUCCESS']));
    expect((await world.landed()).toSorted()).toEqual(['Z', ...commits.keys()].toSorted());
    const refs = await developer.git('for-each-ref', '--format=%(refname)', 'refs/heads');
    expect(refs.split('\n').toSorted()).toEqual([
      'refs/heads/for/master/a/b',
      'refs/heads/for/nowhere/x',
      'refs/heads/for/x',
      'refs/heads/gate/master/nobody',
      'refs/heads/master',
    ]);
  },
);
