import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseBranchTemplate } from '../../../../drivers/git/branch-template.ts';
import { nextRefs, watchedRefs } from '../../../../drivers/git/next-refs.ts';
import { decodeMemory, encodeMemory, refsDigest } from '../../../../drivers/git/project-memory.ts';
import type { Refs } from '../../../../drivers/git/ref-view.ts';
import { parseObjectId } from '../../../../src/git/objects/object-id.ts';
import { parseRefName } from '../../../../src/git/objects/ref-name.ts';
import { RecordError } from '../../../../src/model/codec/record.ts';

const template = (source: string) => {
  const parsed = parseBranchTemplate(source);
  return parsed.kind === 'template' ? parsed.template : expect.unreachable(parsed.reason);
};
const templates = {
  proposals: template('for/{branch}/{topic}'),
  approvals: template('gate/{branch}/{topic}'),
};

function refs(...names: readonly string[]): Refs {
  return new Map(names.map(name => [parseRefName(`refs/${name}`), parseObjectId('1'.repeat(40))]));
}

const NAMES = [
  'heads/a',
  'heads/b',
  'heads/for/a/x',
  'heads/for/b/y',
  'heads/gate/a/x',
  'tags/v1',
  'tags/v2',
].map(name => `refs/${name}`);
const anyRefs = fc
  .uniqueArray(fc.tuple(fc.constantFrom(...NAMES), fc.constantFrom('1', '2')), { selector: ([name]) => name })
  .map(
    (entries): Refs =>
      new Map(entries.map(([name, digit]) => [parseRefName(name), parseObjectId(digit.repeat(40))])),
  );

describe('many changed refs', () => {
  test('arrives at what is there, each part no larger than allowed', () => {
    fc.assert(
      fc.property(anyRefs, anyRefs, fc.integer({ min: 2, max: 4 }), (before, now, most) => {
        let at = before;
        for (let parts = 0; refsDigest(at) !== refsDigest(now); parts += 1) {
          const next = nextRefs(at, now, templates, most);
          const moved = NAMES.map(parseRefName).filter(ref => at.get(ref) !== next.get(ref));
          expect(moved.length).toBeLessThanOrEqual(most);
          expect(parts).toBeLessThan(NAMES.length);
          at = next;
        }
      }),
    );
  });

  test('takes branches and tags first, then what is approved together with its proposal, other proposals last', () => {
    const now = refs(
      'heads/for/a/1',
      'heads/for/a/2',
      'heads/gate/a/x',
      'heads/gate/a/y',
      'heads/for/a/x',
      'tags/v1',
      'heads/a',
    );
    // The proposal of y was taken before.
    const before = refs('heads/for/a/y');
    const parts: string[][] = [];
    for (let at = before; at.size < now.size + 1; ) {
      const next = nextRefs(at, new Map([...now, ...before]), templates, 2);
      parts.push([...next.keys()].filter(ref => !at.has(ref)).map(ref => ref.slice('refs/'.length)));
      at = next;
    }
    expect(parts).toEqual([
      ['heads/a', 'tags/v1'],
      ['heads/gate/a/x', 'heads/for/a/x'],
      ['heads/gate/a/y', 'heads/for/a/1'],
      ['heads/for/a/2'],
    ]);
  });

  test('knows all branches and tags from the first look on', () => {
    const now = refs('heads/a', 'heads/b', 'tags/v1', 'heads/for/a/x', 'heads/for/a/y', 'heads/for/a/z');
    expect([...nextRefs(undefined, now, templates, 2).keys()]).toEqual([
      'refs/heads/a',
      'refs/heads/b',
      'refs/tags/v1',
      'refs/heads/for/a/x',
      'refs/heads/for/a/y',
    ]);
  });
});

describe('too many refs', () => {
  test('are watched without tags, or not at all', () => {
    const all = refs('heads/a', 'heads/b', 'tags/v1');
    expect(watchedRefs(all, 3)).toBe(all);
    expect(watchedRefs(all, 2)).toEqual(refs('heads/a', 'heads/b'));
    expect(watchedRefs(all, 1)).toBeUndefined();
  });
});

describe('what is remembered', () => {
  test('comes back from plain JSON as it was', () => {
    const known = {
      commit: parseObjectId('2'.repeat(40)),
      status: 'open',
      approved: true,
      subject: 'Ü "x"',
      owner: '',
      digest: 'd',
    } as const;
    fc.assert(
      fc.property(anyRefs, fc.nat(), (remembered, sequence) => {
        const memory = { sequence, refs: remembered, proposals: new Map([['a/x', known]]) };
        const back = decodeMemory(JSON.parse(JSON.stringify(encodeMemory(memory))));
        expect(back).toEqual(memory);
      }),
    );
  });

  test('of another version is nothing', () => {
    expect(decodeMemory({ version: 0, sequence: 1 })).toBeUndefined();
    expect(() => decodeMemory({ version: 2, sequence: 1 })).toThrow(RecordError);
    expect(decodeMemory(undefined)).toBeUndefined();
  });

  test('fits a store node at its largest', () => {
    const random = (n: number) =>
      parseObjectId(
        Array.from({ length: 5 }, (_, i) =>
          ((n * 2654435761 * (i + 7)) >>> 0).toString(16).padStart(8, '0'),
        ).join(''),
      );
    const many: Refs = new Map(
      Array.from({ length: 12_000 }, (_, n) => [parseRefName(`refs/tags/release/2026.${n}`), random(n)]),
    );
    expect(
      JSON.stringify(encodeMemory({ sequence: 1, refs: many, proposals: new Map() })).length,
    ).toBeLessThan(600_000);
  });
});
