import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createRecipient, sealText } from '../../../src/lib/sealed-text.ts';

describe('a sealed text', () => {
  test('opens for its recipient and its context alone, and is another each time', () => {
    const recipient = createRecipient();
    const [one = '', two = ''] = [1, 2].map(() => sealText('hunter2 ü', recipient.publicKey, 'of /a'));
    expect(recipient.open(one, 'of /a')?.reveal()).toBe('hunter2 ü');
    expect(recipient.open(two, 'of /a')?.reveal()).toBe('hunter2 ü');
    expect(one).not.toBe(two);
    expect(recipient.open(one, 'of /b')).toBeUndefined();
    expect(createRecipient().open(one, 'of /a')).toBeUndefined();
  });

  test('does not open when a byte of it was changed, cut or exchanged', () => {
    const recipient = createRecipient();
    const sealed = sealText('hunter2', recipient.publicKey, 'x') ?? '';
    const [key = '', body = ''] = sealed.split('.');
    const bytes = Buffer.from(body, 'base64');
    for (const at of bytes.keys()) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(recipient.open(`${key}.${changed.toString('base64')}`, 'x')).toBeUndefined();
    }
    const other = createRecipient().publicKey;
    for (const broken of ['', '.', key, `${key}.`, `${key}.AAAA`, `${other}.${body}`, `!.${body}`])
      expect(recipient.open(broken, 'x')).toBeUndefined();
  });

  test('is not made for a key of another kind', () => {
    const rsa = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey;
    const keys = ['', 'AAAA', rsa.export({ type: 'spki', format: 'der' }).toString('base64')];
    expect(keys.map(key => sealText('hunter2', key, 'x'))).toEqual([undefined, undefined, undefined]);
  });
});
