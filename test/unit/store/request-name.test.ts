/** Names of requests: what a worker sees of all that wait. */
import { describe, expect, it } from 'vitest';
import { inServiceOrder, parseRequestName, requestNamePrefix } from '../../../src/store/request-record.ts';

const UUID = '5d2a8a9e-3c0f-4a51-9d0e-0c9b8e1f2a3b';

describe('the name of a request', () => {
  it.each([undefined, 'waiting', 'granted'] as const)('says all that its maker said (hosts: %s)', hosts => {
    const name = `${requestNamePrefix(200, UUID, hosts)}0000000042`;
    const parsed = { uuid: UUID, priority: 200, sequence: 42 };
    expect(parseRequestName(name)).toEqual(hosts === undefined ? parsed : { ...parsed, hosts });
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
