import { describe, expect, it } from 'vitest';
import type { Calls } from '../../../src/lib/calls.ts';
import { sharedCalls } from '../../../src/lib/shared-calls.ts';

interface Table {
  name(argument: null): string;
}

/** Workers that answer with their own names, and which of them have ended. */
function workers(most: number) {
  const ended: string[] = [];
  const open = sharedCalls<Table, string>(most, name => ({
    call: async (_call, argument) => Reflect.apply(() => name, undefined, [argument]),
    async [Symbol.asyncDispose]() {
      ended.push(name);
    },
  }));
  return { ended, open };
}

const nameOf = (user: Calls<Table>) => user.call('name', null);

describe('users of shared workers', () => {
  it('have one of their own while there are fewer than may be', async () => {
    const { open } = workers(2);
    expect(await nameOf(open('one'))).toBe('one');
    expect(await nameOf(open('two'))).toBe('two');
  });

  it('join the one with the fewest users then', async () => {
    const { open } = workers(2);
    const users = ['one', 'two', 'three', 'four', 'five'].map(open);
    expect(await Promise.all(users.map(nameOf))).toEqual(['one', 'two', 'one', 'two', 'one']);
  });

  it('end a worker with its last user, however often each leaves, and the next user starts another', async () => {
    const { ended, open } = workers(1);
    const [first, second] = [open('one'), open('two')];
    await first[Symbol.asyncDispose]();
    await first[Symbol.asyncDispose]();
    expect(ended).toEqual([]);
    expect(await nameOf(second)).toBe('one');
    await second[Symbol.asyncDispose]();
    expect(ended).toEqual(['one']);
    expect(await nameOf(open('three'))).toBe('three');
  });
});
