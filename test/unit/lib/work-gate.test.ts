import { describe, expect, it } from 'vitest';
import { createWorkGate } from '../../../src/lib/work-gate.ts';

describe('a work gate', () => {
  it('lets work through until it is paused, and again once it is resumed', async () => {
    const gate = createWorkGate();
    expect(await gate.passed()).toBe(true);
    const before = gate.signal;
    gate.pause();
    expect(before.aborted).toBe(true);
    const waiting = gate.passed();
    gate.resume();
    expect(await waiting).toBe(true);
    expect(gate.signal.aborted).toBe(false);
  });

  it('stays shut, after any further call', async () => {
    const gate = createWorkGate();
    gate.pause();
    const waiting = gate.passed();
    gate.shut();
    gate.resume();
    gate.pause();
    expect(await waiting).toBe(false);
    expect(await gate.passed()).toBe(false);
    expect(gate.signal.aborted).toBe(true);
  });

  it('waits for the last word when it is paused again at once', async () => {
    const gate = createWorkGate();
    gate.pause();
    let passed = false;
    const waiting = gate.passed().then(open => {
      passed = open;
    });
    gate.resume();
    gate.pause();
    await new Promise(setImmediate);
    expect(passed).toBe(false);
    gate.resume();
    await waiting;
    expect(passed).toBe(true);
  });
});
