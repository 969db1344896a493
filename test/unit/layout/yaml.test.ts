import fc from 'fast-check';
import { dump } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import { parseYaml } from '../../../src/layout/yaml/yaml.ts';
import { jsonOf, nodeAt } from '../../../src/layout/yaml/yaml-node.ts';
import { slowness } from '../../fake/slowness.ts';

function parsedValue(text: string): unknown {
  const parsed = parseYaml(text);
  if (parsed.kind === 'invalid') throw new Error(parsed.text);
  expect(parsed.problems).toEqual([]);
  return parsed.root === undefined ? undefined : jsonOf(parsed.root);
}

/** `line:column: text` of everything wrong. */
function wrongOf(text: string): readonly string[] {
  const parsed = parseYaml(text);
  if (parsed.kind === 'invalid') return [`${parsed.line}:${parsed.column}: ${parsed.text}`];
  return parsed.problems.map(problem => {
    const { line, column } = parsed.positionOf(problem.offset);
    return `${line}:${column}: ${problem.text}`;
  });
}

describe('scalars follow the YAML 1.2 core schema', () => {
  it.each<[string, unknown]>([
    ['a', 'a'],
    ['yes', 'yes'],
    ['no', 'no'],
    ['on', 'on'],
    ['true', true],
    ['False', false],
    ['~', null],
    ['null', null],
    ['12', 12],
    ['-1', -1],
    ['1.5', 1.5],
    ['1e3', 1000],
    ['0x1f', 31],
    ['0o17', 15],
    ['1:30', '1:30'],
    ['2026-11-20', '2026-11-20'],
    ['1_000', '1_000'],
    ['"12"', '12'],
    ["'true'", 'true'],
    ['!!str 12', '12'],
    ['|\n a\n b', 'a\nb\n'],
    ['>-\n a\n b', 'a b'],
  ])('%j', (text, value) => {
    expect(parsedValue(`k: ${text}\n`)).toEqual({ k: value });
  });
});

describe('what is refused, with its place', () => {
  it.each<[string, string, string[]]>([
    [
      'a duplicate key, with both lines',
      'a: 1\nb: 2\na: 3\n',
      ['3:1: key "a" is repeated, first at line 1; remove one'],
    ],
    [
      'a duplicate key in a nested mapping',
      '- job:\n    x: 1\n    x: 2\n',
      ['3:5: key "x" is repeated, first at line 2; remove one'],
    ],
    ['an unknown tag', 'a: !vault abc\n', ['1:4: tag !vault is not supported; remove it']],
    ['a tag on a mapping', 'a: !x {b: 1}\n', ['1:4: tag !x is not supported; remove it']],
    [
      'a merge key with a text',
      'a: &x y\nc:\n  <<: *x\nd:\n  <<: [{e: 1}, [2]]\n',
      [
        '3:3: << merges a mapping or a list of mappings, not the string "y"',
        '5:3: << merges a mapping or a list of mappings, not a list',
      ],
    ],
    [
      'a number with a leading zero',
      'mode: 0755\n',
      ['1:7: 0755 starts with 0, which YAML versions read differently; quote it or drop the 0'],
    ],
    [
      'a number out of range',
      'a: 1e400\n',
      ['1:4: 1e400 is too large a number; quote it to make it a string'],
    ],
    [
      'a number with too many digits',
      'a: 12345678901234567890\n',
      ['1:4: 12345678901234567890 has more digits than a number can hold; quote it'],
    ],
    ['infinity', 'a: .inf\n', ['1:4: .inf is not supported as a number; quote it to make it a string']],
    ['a list as key', '? [a]\n: 1\n', ['1:3: a key must be a string']],
    ['a NUL in a text', 'a: "x\\x00"\n', ['1:5: a NUL character is not allowed']],
    [
      'several documents',
      'a: 1\n---\nb: 2\n',
      ['3:1: a second document starts here; a file holds one, remove the ---'],
    ],
    [
      'a tab for indentation',
      'a:\n\tb: 1\n',
      ['2:1: not valid YAML: this line is indented with a tab; use spaces'],
    ],
    [
      'bad indentation',
      'a: 1\n b: 2\n',
      ['2:3: not valid YAML: bad indentation of a mapping entry; align it with the keys above'],
    ],
    ['a colon in a value', 'a: b: c\n', ['1:5: not valid YAML: a value that holds ": " must be quoted']],
    ['a reserved character', 'a: @x\n', ['1:4: not valid YAML: a value cannot start with @; quote it']],
    [
      'a text behind a bracket',
      'files: [a-z]+.py\n',
      ['1:13: not valid YAML: the value ends at ]; quote the whole value'],
    ],
    [
      'a list that is indented less',
      '- job:\n  - a\n - b\n',
      ['3:2: not valid YAML: bad indentation of a sequence entry; align it with the "- " above'],
    ],
    [
      'an open bracket',
      'a: [1\n',
      [
        '2:1: not valid YAML: deficient indentation; a bracket or quote above is not closed, or this line must be indented further',
      ],
    ],
    ['a NUL byte', 'a: \0\n', ['1:4: not valid YAML: null byte is not allowed in input']],
    [
      'an alias without anchor',
      'a: *x\n',
      ['1:5: alias *x has no anchor &x above it; quote the value if it is not an alias'],
    ],
    ['an alias inside its own value', 'a: &x\n  b: *x\n', ['2:7: alias *x is inside the value it refers to']],
    ['deep nesting', `a: ${'['.repeat(2000)}`, ['1:67: not valid YAML: nesting exceeded maxDepth (64)']],
  ])('%s', (_, text, expected) => {
    expect(wrongOf(text)).toEqual(expected);
  });

  it('a large file', () => {
    expect(wrongOf(`# ${'x'.repeat(1_048_576)}\n`)).toEqual(['1:1: the file is larger than 1 MiB; split it']);
  });

  it('a small file that aliases make large, quickly', () => {
    const levels = Array.from(
      { length: 12 },
      (_, i) =>
        `l${i}: &l${i} [${Array(9)
          .fill(i === 0 ? 'lol' : `*l${i - 1}`)
          .join(', ')}]`,
    );
    const started = performance.now();
    expect(wrongOf(`${levels.join('\n')}\n`)).toEqual(['6:9: more than 250000 values with aliases expanded']);
    expect(performance.now() - started).toBeLessThan(1000 * slowness());
  });

  it('aliases that nest deeper than anything written', () => {
    const levels = Array.from({ length: 80 }, (_, i) => `l${i}: &l${i} [${i === 0 ? 'x' : `*l${i - 1}`}]`);
    expect(wrongOf(`${levels.join('\n')}\n`)).toEqual(['64:11: more than 64 levels with aliases expanded']);
  });
});

describe('merge keys mean what PyYAML makes of them', () => {
  it.each<[string, string, unknown]>([
    ['a mapping', 'a: &x {b: 1}\nc:\n  <<: *x\n  d: 2\n', { b: 1, d: 2 }],
    ['own keys win, wherever they stand', 'a: &x {b: 1}\nc:\n  b: 3\n  <<: *x\n', { b: 3 }],
    ['the first of a list wins', 'a: &x {b: 1}\nd: &y {b: 2, e: 3}\nc:\n  <<: [*x, *y]\n', { b: 1, e: 3 }],
    ['the last of several wins', 'a: &x {b: 1}\nd: &y {b: 2}\nc:\n  <<: *x\n  <<: *y\n', { b: 2 }],
    ['merged keys are merged on', 'a: &x {b: 1}\nd: &y {<<: *x, e: 3}\nc: {<<: *y}\n', { b: 1, e: 3 }],
    ['a quoted key is a key', 'c:\n  "<<": 1\n', { '<<': 1 }],
  ])('%s', (_, text, value) => {
    expect(parsedValue(text)).toMatchObject({ c: value });
    expect(Object.keys(Object(parsedValue(text)).c).toSorted()).toEqual(
      Object.keys(Object(value)).toSorted(),
    );
  });

  it('a merged key keeps the place where it is written', () => {
    const parsed = parseYaml('a: &x\n  b: 1\nc:\n  <<: *x\n');
    if (parsed.kind === 'invalid' || parsed.root === undefined) throw new Error('invalid');
    expect(parsed.positionOf(nodeAt(parsed.root, ['c', 'b']).offset)).toEqual({ line: 2, column: 3 });
  });

  it('a small file that merging makes large is refused', () => {
    const keys = Array.from({ length: 2000 }, (_, i) => `  k${i}: 1\n`).join('');
    expect(wrongOf(`x: &x\n${keys}y:\n${'  - <<: *x\n'.repeat(200)}`)).toEqual([
      '2128:5: more than 250000 keys are merged with <<',
    ]);
  });
});

describe('a tree of nodes', () => {
  it('aliases share their value', () => {
    expect(parsedValue('a: &x [1, {b: 2}]\nc: *x\n')).toEqual({ a: [1, { b: 2 }], c: [1, { b: 2 }] });
  });

  it('finds the place of a path, or of the nearest part of it', () => {
    const text = '- job:\n    name: a\n    files:\n      - x\n      - "y"\n';
    const parsed = parseYaml(text);
    if (parsed.kind === 'invalid' || parsed.root === undefined) throw new Error('invalid');
    const { root, positionOf } = parsed;
    const at = (...path: (string | number)[]) => {
      const { line, column } = positionOf(nodeAt(root, path).offset);
      return `${line}:${column}`;
    };
    expect(at(0, 'job', 'files')).toBe('3:5');
    expect(at(0, 'job', 'files', 1)).toBe('5:10');
    expect(at(0, 'job', 'files', 7)).toBe('4:7');
    expect(at(0, 'job', 'nothing')).toBe('2:5');
  });

  it('an empty text or one of comments has no root', () => {
    expect(parsedValue('')).toBeUndefined();
    expect(parsedValue('# nothing\n')).toBeUndefined();
    expect(parsedValue('---\n# nothing\n')).toBeUndefined();
  });

  it('reads what js-yaml wrote', () => {
    // Whole numbers beyond 2^53 are refused on purpose.
    const json = fc
      .jsonValue({ maxDepth: 4 })
      .filter(value => !/__proto__|\d{16,}(?![\d.])/.test(JSON.stringify(value)));
    fc.assert(
      fc.property(fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), json), value => {
        const plain = JSON.parse(JSON.stringify(value));
        expect(parsedValue(dump(plain, { noRefs: true, forceQuotes: true }))).toEqual(plain);
      }),
    );
  });

  it('no text makes it throw', () => {
    const bits = fc.constantFrom(
      'a',
      ':',
      ' ',
      '\n',
      '- ',
      '[',
      ']',
      '{',
      '}',
      '&x',
      '*x',
      '!t',
      '"',
      "'",
      '|',
      '<<',
      '? ',
      '#',
      '---\n',
      '\t',
    );
    fc.assert(
      fc.property(fc.array(bits, { maxLength: 25 }), parts => {
        expect(['document', 'invalid']).toContain(parseYaml(parts.join('')).kind);
      }),
      { numRuns: 2000 },
    );
  });
});
