import { describe, expect, test } from 'vitest';
import { addressRanges, isAddressRange } from '../../../src/lib/address-ranges.ts';

describe('ranges of addresses', () => {
  const ranges = addressRanges(['127.0.0.1', '10.0.0.0/8', '2001:db8::/32']);

  test.each([
    ['127.0.0.1', true],
    ['::ffff:127.0.0.1', true],
    ['127.0.0.2', false],
    ['10.255.1.2', true],
    ['::ffff:a00:1', true],
    ['11.0.0.1', false],
    ['2001:db8:ffff::1', true],
    ['2001:db9::1', false],
    ['', false],
    ['unix', false],
    ['10.0.0.1, 10.0.0.2', false],
  ])('%s: %s', (address, expected) => {
    expect(ranges.has(address)).toBe(expected);
  });

  test.each([
    ['127.0.0.1', true],
    ['0.0.0.0/0', true],
    ['::/0', true],
    ['10.0.0.0/33', false],
    ['::1/129', false],
    ['10.0.0.0/', false],
    ['10.0.0.0/8/8', false],
    ['10.0.0/8', false],
    ['localhost', false],
  ])('%s is one: %s', (text, expected) => {
    expect(isAddressRange(text)).toBe(expected);
  });
});
