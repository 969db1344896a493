import { describe, expect, test } from 'vitest';
import { Lease } from '../../../../src/store/zookeeper/lease.ts';

describe('lease', () => {
  test('is held for half the timeout after the last proof was sent, in doubt for the other half, then over', () => {
    const lease = new Lease(1000, 5000);
    expect(lease.standing(5000)).toBe('held');
    expect(lease.standing(5499)).toBe('held');
    expect(lease.standing(5500)).toBe('doubtful');
    expect(lease.standing(5999)).toBe('doubtful');
    expect(lease.standing(6000)).toBe('over');
  });

  test('counts from when a proof was sent, not from when it was answered', () => {
    const lease = new Lease(1000, 0);
    lease.prove(400);
    expect(lease.standing(899)).toBe('held');
    expect(lease.standing(900)).toBe('doubtful');
  });

  test('an older proof that is answered later shortens nothing', () => {
    const lease = new Lease(1000, 0);
    lease.prove(400);
    lease.prove(300);
    expect(lease.standing(899)).toBe('held');
  });

  test('a new connection brings the timeout its server grants', () => {
    const lease = new Lease(1000, 0);
    lease.renew(4000, 700);
    expect(lease.timeoutMs).toBe(4000);
    expect(lease.standing(2699)).toBe('held');
    expect(lease.standing(2700)).toBe('doubtful');
  });

  test('one proof may go unanswered for a quarter of the timeout before there is doubt', () => {
    const lease = new Lease(1200, 0);
    // A proof is due, but the tick has just passed; it is sent with the next one.
    expect(lease.heartbeatDue(199)).toBe(false);
    expect(lease.heartbeatDue(200)).toBe(true);
    const sentAt = 199 + lease.tickMs;
    expect(lease.standing(sentAt + 300)).toBe('held');
  });
});
