import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { interpolate } from '../../../src/settings/interpolate.ts';

describe('interpolation', () => {
  it('variables and percent signs', () => {
    expect(interpolate('%(A)s/100%%/%(B)s', { A: 'x', B: '' })).toEqual({
      kind: 'text',
      text: 'x/100%/',
      fromEnvironment: false,
    });
    expect(interpolate('%(A)s', { A: 'x' })).toEqual({ kind: 'text', text: 'x', fromEnvironment: true });
    expect(interpolate('', {})).toEqual({ kind: 'text', text: '', fromEnvironment: false });
  });

  it('a percent sign in a variable means itself', () => {
    expect(interpolate('%(A)s', { A: '%(B)s %' })).toMatchObject({ text: '%(B)s %' });
  });

  it.each(['%', '5% of', '%(A', '%(A)', '%(A)d', '%s', '%%%'])('%s is refused', raw => {
    expect(interpolate(raw, { A: 'x' }).kind).toBe('invalid');
  });

  it('any text comes back when its percent signs are doubled', () => {
    fc.assert(
      fc.property(fc.string(), text => {
        expect(interpolate(text.replaceAll('%', '%%'), {})).toMatchObject({ kind: 'text', text });
      }),
    );
  });
});
