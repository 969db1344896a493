/** Names of requests: what a worker sees of all that wait. */
import { describe, expect, it } from 'vitest';
import { inServiceOrder, parseRequestName, requestNamePrefix } from '../../../src/store/request-record.ts';

const UUID = '5d2a8a9e-3c0f-4a51-9d0e-0c9b8e1f2a3b';

describe('the name of a request', () => {
  it.each([
    {},
    { hosts: 'waiting' },
    { hosts: 'granted' },
    { hosts: 'granted', zone: 'dmz' },
    { hosts: 'granted', zone: 'a-b.c_d' },
  ] as const)('says all that its maker said (%j)', marks => {
    const name = `${requestNamePrefix(200, UUID, marks)}0000000042`;
    expect(parseRequestName(name)).toEqual({ uuid: UUID, priority: 200, sequence: 42, ...marks });
    expect(name.slice(0, -10)).not.toContain('/');
  });

  it.each([
    '',
    'queue',
    `200-${UUID}-`,
    `200-${UUID}-000000042`,
    `2o0-${UUID}-0000000042`,
    `200${UUID}-0000000042`,
    `200-${UUID}0000000042x`,
    `200-${UUID}-00000000 2`,
    '200--0000000042',
    'ｘ00-a-0000000042',
  ])('is not "%s"', name => {
    expect(parseRequestName(name)).toBeUndefined();
  });
});

describe('the order of service', () => {
  it('is by priority, then by number, and other nodes come last', () => {
    const named = (priority: number, uuid: string, sequence: number) =>
      `${requestNamePrefix(priority, uuid)}${String(sequence).padStart(10, '0')}`;
    const order = [named(100, 'z', 9), named(200, 'b', 3), named(200, 'a', 2_147_483_647), 'other'];
    expect(inServiceOrder(order.toReversed())).toEqual(order);
  });
});
