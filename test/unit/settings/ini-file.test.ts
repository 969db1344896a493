import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseIni } from '../../../src/settings/ini-file.ts';

function values(text: string): Record<string, Record<string, string>> {
  const { sections } = parseIni(new TextEncoder().encode(text), 'f');
  return Object.fromEntries(
    [...sections].map(([name, section]) => [
      name,
      Object.fromEntries([...section.options].map(([option, { raw }]) => [option, raw])),
    ]),
  );
}

describe('an INI file reads as with configparser', () => {
  it.each<[string, string, Record<string, string>]>([
    ['both delimiters', '[s]\na=1\nb: 2\nc = x: y\nd : x = y\n', { a: '1', b: '2', c: 'x: y', d: 'x = y' }],
    ['no comment after a value', '[s]\na = x ; y # z\n', { a: 'x ; y # z' }],
    ['comments at the start of a line, indented too', '[s]\n# a = 1\n  ; b = 2\nc = 3\n', { c: '3' }],
    ['names are lower-cased, values are not', '[s]\nAbC = DeF\n', { abc: 'DeF' }],
    ['deeper lines continue a value', '[s]\na = 1\n  2\n\n  3\n\nb = 4\n', { a: '1\n2\n\n3', b: '4' }],
    ['a comment does not end a continued value', '[s]\na =\n  1\n# no\n  2\n', { a: '\n1\n2' }],
    ['a line as deep as its option starts anew', '[s]\n  a = 1\n  b = 2\n', { a: '1', b: '2' }],
    ['a header inside a value is text', '[s]\na = 1\n  [t]\n', { a: '1\n[t]' }],
    ['an empty value', '[s]\na =\n', { a: '' }],
    ['line ends of other systems', '[s]\r\na = 1\rb = 2\r\n', { a: '1', b: '2' }],
    ['no line end at the end', '[s]\na = 1', { a: '1' }],
    ['a byte order mark', '\ufeff[s]\na = 1', { a: '1' }],
    ['other scripts', '[s]\na = größe 大\n', { a: 'größe 大' }],
  ])('%s', (_, text, expected) => {
    expect(values(text)).toEqual({ s: expected });
  });

  it('a dotted name stays one name, a comment may follow it', () => {
    expect(Object.keys(values('[connection gerrit.example.org] ; the big one\n[ web ]\n'))).toEqual([
      'connection gerrit.example.org',
      'web',
    ]);
  });

  it('every option keeps its line', () => {
    const { sections } = parseIni(new TextEncoder().encode('\n[s]\na = 1\n  2\nb = 3\n'), 'f');
    expect(sections.get('s')?.line).toBe(2);
    expect([...(sections.get('s')?.options.values() ?? [])].map(option => option.line)).toEqual([3, 5]);
  });

  it('what is written can be read', () => {
    const name = fc.stringMatching(/^[a-z][a-z0-9_]{0,8}$/);
    const value = fc.stringMatching(/^[!-~]([ -~]{0,20}[!-~])?$/);
    fc.assert(
      fc.property(fc.dictionary(name, fc.dictionary(name, value), { noNullPrototype: true }), file => {
        const text = Object.entries(file)
          .map(
            ([section, options]) =>
              `[${section}]\n${Object.entries(options)
                .map(([k, v]) => `${k} = ${v}\n`)
                .join('')}`,
          )
          .join('\n');
        expect(values(text)).toEqual(file);
      }),
    );
  });

  it('no bytes make it throw', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), content => {
        expect(parseIni(content, 'f').sections).toBeInstanceOf(Map);
      }),
    );
  });
});
