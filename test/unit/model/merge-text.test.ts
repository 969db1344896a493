import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { boundedMergeText, squashMessage } from '../../../src/model/merge-text.ts';

describe('the text of a change', () => {
  it('becomes the message of a squash: title, body, a trailer for each reviewer', () => {
    const text = {
      title: 'Let people in',
      body: '\nWith a password.\r\n\r\n',
      reviewers: ['Ada <ada@example.org>', 'bob'],
    };
    expect(squashMessage(text)).toBe(
      'Let people in\n\nWith a password.\n\nReviewed-by: Ada <ada@example.org>\nReviewed-by: bob\n',
    );
    expect(squashMessage({ title: 'Only this', body: '', reviewers: [] })).toBe('Only this\n');
  });

  it('is cut to 8 kB, its message to 4 kB with all trailers, and never within a character', () => {
    const text = fc.string({ unit: 'binary', maxLength: 9_000 });
    const parts = fc.record({ title: text, body: text, reviewers: fc.array(text, { maxLength: 40 }) });
    fc.assert(
      fc.property(parts, whole => {
        const bounded = boundedMergeText(whole);
        const { title, body, reviewers } = bounded;
        expect(Buffer.byteLength([title, body, ...reviewers].join(''))).toBeLessThanOrEqual(8_000);
        expect([title, ...reviewers].every(line => !line.includes('\n'))).toBe(true);
        expect(boundedMergeText(bounded)).toEqual(bounded);
        const message = squashMessage(whole);
        expect(Buffer.byteLength(message)).toBeLessThanOrEqual(4_020);
        expect(message.isWellFormed()).toBe(true);
        for (const name of reviewers) expect(message).toContain(`Reviewed-by: ${name}`);
      }),
      { numRuns: 60 },
    );
  });
});
