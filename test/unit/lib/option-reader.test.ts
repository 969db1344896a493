import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseDuration } from '../../../src/lib/duration.ts';
import { didYouMean, nearestName } from '../../../src/lib/nearest-name.ts';
import { optionReader, showOptionProblem } from '../../../src/lib/option-reader.ts';

function section(options: Record<string, string>) {
  const file = 'g.conf';
  return {
    name: 'connection a',
    at: { file, line: 1 },
    options: new Map(
      Object.entries(options).map(([name, value], i) => [name, { value, at: { file, line: i + 2 } }]),
    ),
  };
}

describe('an option reader', () => {
  it('converts what is written and falls back on what is not', () => {
    const read = optionReader(
      section({ a: '5', b: 'Yes', c: '1h30m', d: 'x, y z', e: 'https://h/p/', f: '0.5', g: 's' }),
    );
    expect(read.integer('a', {}, 1)).toBe(5);
    expect(read.integer('none', {}, 1)).toBe(1);
    expect(read.boolean('b', false)).toBe(true);
    expect(read.duration('c', {}, 0)).toBe(5400);
    expect(read.words('d')).toEqual(['x', 'y', 'z']);
    expect(read.url('e', ['https'])).toBe('https://h/p');
    expect(read.number('f', {}, 0)).toBe(0.5);
    expect(read.secret('g')?.reveal()).toBe('s');
    expect(read.string('none')).toBeUndefined();
    expect(read.has('none')).toBe(false);
    expect(read.finish()).toEqual([]);
  });

  it('paths count from the directory of the section', () => {
    const read = optionReader({ ...section({ a: 'x/../y', b: '/z', c: '' }), directory: '/srv' });
    expect([read.path('a'), read.path('b'), read.path('none'), read.path('none', 'd')]).toEqual([
      '/srv/y',
      '/z',
      undefined,
      '/srv/d',
    ]);
    read.path('c');
    expect(read.finish().map(showOptionProblem)).toEqual(['g.conf:4: [connection a] c: is empty']);
  });

  it('reads on after a mistake and reports all of them by line', () => {
    const read = optionReader(section({ bool: 'maybe', int: '1.5', unknwon: 'x', secret: '', old: 'y' }));
    expect(read.secret('secret')).toBeUndefined();
    expect(read.integer('int', { max: 3 }, 2)).toBe(2);
    expect(read.boolean('bool', true)).toBe(true);
    read.required('server');
    read.unsupported('old', 'remove it');
    read.unsupported('older', 'remove it');
    read.string('unknown');
    read.refuse('unknown', 'must go with server');
    expect(read.finish().map(showOptionProblem)).toEqual([
      'g.conf:1: [connection a] server: is required and missing',
      'g.conf:1: [connection a] unknown: must go with server',
      'g.conf:2: [connection a] bool: "maybe" is neither true nor false',
      'g.conf:3: [connection a] int: "1.5" is not a whole number',
      'g.conf:4: [connection a] unknwon: unknown option, did you mean "unknown"?',
      'g.conf:5: [connection a] secret: is empty',
      'g.conf:6: [connection a] old: is not supported yet; remove it',
    ]);
  });

  it('bounds with one end', () => {
    const read = optionReader(section({ a: '1', b: '9' }));
    read.integer('a', { min: 2 }, 2);
    read.integer('b', { max: 2 }, 2);
    expect(read.finish().map(problem => problem.reason)).toEqual([
      '"1" is too small, at least 2',
      '"9" is too large, at most 2',
    ]);
  });
});

describe('durations', () => {
  it.each([
    ['0', 0],
    ['30', 30],
    ['30s', 30],
    ['5m', 300],
    ['2h', 7200],
    ['1d', 86_400],
    ['1m30s', 90],
    ['', undefined],
    ['-1', undefined],
    ['1.5h', undefined],
    ['5 m', undefined],
    ['5M', undefined],
    ['m', undefined],
  ])('%j', (text, seconds) => {
    expect(parseDuration(text)).toBe(seconds);
  });
});

describe('the nearest name', () => {
  it.each([
    ['prot', 'port'],
    ['listen-address', 'listen_address'],
    ['Root', 'root'],
    ['xyz', undefined],
    ['p', undefined],
  ])('%s', (given, expected) => {
    expect(nearestName(given, ['listen_address', 'port', 'root'])).toBe(expected);
  });

  it('a single slip in a longer name is always found', () => {
    const name = fc.stringMatching(/^[a-z]{4,20}$/);
    fc.assert(
      fc.property(name, fc.nat(), (known, position) => {
        const at = position % known.length;
        expect(nearestName(known.slice(0, at) + known.slice(at + 1), [known])).toBe(known);
        expect(nearestName(`${known.slice(0, at)}-${known.slice(at)}`, [known])).toBe(known);
      }),
    );
  });

  it('is worded as a question', () => {
    expect(didYouMean('prot', ['port'])).toBe(', did you mean "port"?');
    expect(didYouMean('zzzz', ['port'])).toBe('');
  });
});
