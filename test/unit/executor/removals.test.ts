import { expect, test } from 'vitest';
import type { OwnProcesses } from '../../../src/executor/git-process.ts';
import { createRemovals } from '../../../src/executor/removals.ts';

/** Deletes nothing; what names `stuck` fails. */
function recording() {
  const commands: string[] = [];
  const own: OwnProcesses = {
    git: async () => {},
    pack: async () => {},
    merged: async () => {},
    async system(argv) {
      commands.push(argv.join(' '));
      if (argv.includes('stuck')) throw new Error('it is in use');
      return '';
    },
  };
  const warned: unknown[] = [];
  const log = { warn: (fields: object) => void warned.push(fields) };
  return { commands, warned, log, removals: createRemovals(own) };
}

test('builds that end at the same time are deleted by one process', async () => {
  const { commands, warned, log, removals } = recording();
  for (const place of ['a', 'b', 'c']) removals.add(place, log);
  await removals.idle();
  expect(commands).toEqual(['rm -rf -- a b c']);
  removals.add('d', log);
  await removals.idle();
  expect(commands).toEqual(['rm -rf -- a b c', 'rm -rf -- d']);
  expect(warned).toEqual([]);
});

test('a build that cannot be deleted is logged, and keeps no other', async () => {
  const { commands, warned, log, removals } = recording();
  for (const place of ['a', 'stuck', 'c']) removals.add(place, log);
  await removals.idle();
  expect(commands.filter(each => /^rm -rf -- [ac]$/.test(each))).toEqual(['rm -rf -- a', 'rm -rf -- c']);
  expect(warned).toEqual([{ place: 'stuck', error: 'it is in use' }]);
});
