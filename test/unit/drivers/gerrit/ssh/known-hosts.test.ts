import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { hostKeyType, judgeHostKey, knownHostKeys } from '../../../../../drivers/gerrit/ssh/known-hosts.ts';

const blob = (type: string, content: string) => {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(type.length);
  return Buffer.concat([length, Buffer.from(type), Buffer.from(content)]);
};
const key = blob('ssh-ed25519', 'one');
const other = blob('ssh-rsa', 'two');
const line = (names: string, of = key) => `${names} ${hostKeyType(of)} ${of.toString('base64')} comment`;
const hashed = (name: string) => {
  const salt = Buffer.from('0123456789abcdef0123');
  return `|1|${salt.toString('base64')}|${createHmac('sha1', salt).update(name).digest('base64')}`;
};
const judge = (text: string, host = 'review.example.org', port = 29418) =>
  judgeHostKey(knownHostKeys(text, host, port), key);

describe('a host key is', () => {
  test.each<[string, string]>([
    ['by name and port', line('[review.example.org]:29418')],
    ['in capitals', line('[Review.Example.ORG]:29418')],
    ['by one of several names', line('x,[review.example.org]:29418,y')],
    ['by a hash', line(hashed('[review.example.org]:29418'))],
    ['by a pattern', line('[*.example.org]:29418')],
    ['by a pattern with a question mark', line('[revie?.example.org]:29418')],
    ['behind comments and broken lines', `# hi\n\nx\nx y\n${line('[review.example.org]:29418')}`],
    [
      'beside another key',
      `${line('[review.example.org]:29418', other)}\n${line('[review.example.org]:29418')}`,
    ],
  ])('known %s', (_, text) => {
    expect(judge(text)).toBe('known');
  });

  test('known without brackets at port 22', () => {
    expect(judge(line('review.example.org'), 'review.example.org', 22)).toBe('known');
  });

  test.each<[string, string]>([
    ['in an empty file', ''],
    ['with another port', line('[review.example.org]:2222')],
    ['without the port', line('review.example.org')],
    ['with another hash', line(hashed('[other.example.org]:29418'))],
    ['that a pattern leaves out', line('[*.example.org]:29418,![review.example.org]:29418')],
    ['of an authority', `@cert-authority ${line('[review.example.org]:29418')}`],
  ])('unknown %s', (_, text) => {
    expect(judge(text)).toBe('unknown');
  });

  test('another one than the file has', () => {
    expect(judge(line('[review.example.org]:29418', other))).toBe('other');
  });

  test('revoked, in spite of other lines', () => {
    const name = '[review.example.org]:29418';
    expect(judge(`${line(name)}\n@revoked ${line('*')}`)).toBe('revoked');
  });
});

test('a key that is not readable has no type', () => {
  expect([Buffer.alloc(0), Buffer.alloc(8, 255)].map(hostKeyType)).toEqual(['', '']);
});
