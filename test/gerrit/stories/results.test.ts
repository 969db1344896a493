/** What people see of a result at Gerrit: a vote, a message, and no submit without success. */
import { expect } from 'vitest';
import { itemsOf, ourMessages, verified } from './change-outcomes.ts';
import { gerritStory } from './gerrit-world.ts';

gerritStory('a failed check votes -1 and names the job; a comment tests again', {}, async world => {
  const change = await world.push();
  world.fail('unit', change);
  await world.runs('unit: 1');
  world.release(/./);
  await world.leaves(change, 'FAILURE', 'check');
  await world.observer.until('the vote', () => verified(change) === -1);
  expect(ourMessages(change).at(-1)).toMatch(/check(.|\n)*unit(.|\n)*FAILURE/);

  await world.gerrit.comment(change, 'bob', 'Looks as if the network was down.\n\nrecheck');
  await world.runs('unit: 1');
  expect(await itemsOf(world, change, 'check')).toHaveLength(2);
  await world.gerrit.comment(change, 'bob', 'No need to recheck this again');
  await world.runs('unit: 1');
  expect(await itemsOf(world, change, 'check')).toHaveLength(2);
});

gerritStory('a failed gate votes -2 and submits nothing', {}, async world => {
  const change = await world.push();
  world.fail('unit', change);
  await world.approve(change);
  world.free();
  await world.leaves(change, 'FAILURE');
  await world.observer.until('the vote', () => verified(change) === -2);
  expect(ourMessages(change).at(-1)).toMatch(/gate(.|\n)*unit(.|\n)*FAILURE/);
  expect([change.now.status, world.gerrit.count('changes/submit')]).toEqual(['NEW', 0]);
});

gerritStory('a change behind one that fails lands without it', {}, async world => {
  const [first, second] = [await world.push(), await world.push()];
  await world.approve(first);
  await world.runs('unit: 1', 'unit: 2');
  await world.approve(second);
  await world.runs('unit: 1', 'unit: 1 2');
  world.fail('unit', first);
  world.release(/^unit: 1$/);
  await world.leaves(first, 'FAILURE');
  world.free();
  await world.leaves(second, 'SUCCESS');
  expect([first.now.status, second.now.status]).toEqual(['NEW', 'MERGED']);
});
