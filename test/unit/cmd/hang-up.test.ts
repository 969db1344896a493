import { expect, test } from 'vitest';
import { listenToHangUps } from '../../../src/cmd/hang-up.ts';

test('a SIGHUP that comes while the service starts is answered when it has started, and later ones immediately', () => {
  const before = process.listenerCount('SIGHUP');
  let reloads = 0;
  {
    using hangUps = listenToHangUps();
    process.emit('SIGHUP');
    process.emit('SIGHUP');
    expect(reloads).toBe(0);
    hangUps.answer(() => void reloads++);
    expect(reloads).toBe(1);
    process.emit('SIGHUP');
    expect(reloads).toBe(2);
  }
  expect(process.listenerCount('SIGHUP')).toBe(before);
});

test('without one nothing is reloaded', () => {
  using hangUps = listenToHangUps();
  hangUps.answer(() => expect.unreachable('no signal came'));
});
