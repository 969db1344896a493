import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { redact, stripUserinfo } from '../../../src/lib/redact.ts';
import { Secret } from '../../../src/lib/secret.ts';
import { processorTime } from '../../fake/processor-time.ts';

describe('redaction', () => {
  it.each([
    ['https://ci:hunter2@git.example.org/a', 'https://***@git.example.org/a'],
    ['fetch ssh://git@host:29418/a failed', 'fetch ssh://***@host:29418/a failed'],
    ['postgresql+psycopg2://u:p@ss@db/x', 'postgresql+psycopg2://***@db/x'],
    ['https://host/a@b', 'https://host/a@b'],
    ['mail me@example.org', 'mail me@example.org'],
    ['two https://a@x/ and https://b:c@y/', 'two https://***@x/ and https://***@y/'],
    ['https://:@x', 'https://***@x'],
  ])('userinfo of %s', (text, expected) => {
    expect(stripUserinfo(text)).toBe(expected);
  });

  it('masks given secrets, percent-encoded ones too, the longest first', () => {
    expect(
      redact('a hunter2, a hunter2000 and a%20b%2F', ['hunter2', new Secret('hunter2000'), 'a b/']),
    ).toBe('a ***, a *** and ***');
  });

  it('leaves very short secrets alone', () => {
    expect(redact('an apple', ['a', ''])).toBe('an apple');
  });

  it('no secret survives', () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 4, maxLength: 12 }),
        fc.string(),
        fc.string(),
        (secret, before, after) => {
          fc.pre(!'***'.includes(secret) && !secret.includes('*'));
          expect(redact(`${before}${secret}${after}`, [secret])).not.toContain(secret);
        },
      ),
    );
  });

  it('is quick on hostile text', () => {
    expect(processorTime(() => stripUserinfo('a://'.repeat(20_000)))).toBeLessThan(1_000);
  });
});

describe('a secret', () => {
  it('shows itself nowhere but in reveal', () => {
    const secret = new Secret('hunter2');
    const shown = [
      `${secret}`,
      JSON.stringify({ secret }),
      inspect({ secret }),
      String(secret),
      Object.keys(secret).join(),
    ];
    expect(shown.join()).not.toContain('hunter2');
    expect(secret.reveal()).toBe('hunter2');
  });
});
