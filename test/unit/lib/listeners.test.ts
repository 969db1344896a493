import { expect, test } from 'vitest';
import { createListeners } from '../../../src/lib/listeners.ts';

test('listeners are called in order until they leave, and one function may listen twice', () => {
  const listeners = createListeners<[name: string]>();
  const called: string[] = [];
  const log = (name: string) => void called.push(name);
  const first = listeners.add(log);
  const second = listeners.add(name => log(`${name} again`));
  listeners.add(log);
  listeners.call('acme');
  expect(called).toEqual(['acme', 'acme again', 'acme']);
  first[Symbol.dispose]();
  second[Symbol.dispose]();
  listeners.call('acme');
  expect(called).toEqual(['acme', 'acme again', 'acme', 'acme']);
  expect(listeners.isEmpty()).toBe(false);
});
