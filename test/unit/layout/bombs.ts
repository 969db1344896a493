/** Files a stranger may propose that cost as much as a file can. Each is below the 1 MiB a file may have. */

export const KNOWN_JOBS = Array.from(
  { length: 1000 },
  (_, index) => `- job:\n    name: functional-tests-py${String(index).padStart(4, '0')}\n    run: a.sh\n`,
).join('');

/** Jobs that are near in spelling to those of {@link KNOWN_JOBS}, and are not defined. */
export function misspeltJobs(count: number): string {
  const names = Array.from(
    { length: count },
    (_, index) => `functional-tsets-py${String(index).padStart(5, '0')}`,
  );
  return `- project:\n    check:\n      jobs:\n${names.map(name => `        - ${name}\n`).join('')}`;
}

const many = (count: number, line: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => line(index)).join('');

export const BOMBS: readonly (readonly [name: string, text: string])[] = [
  ['22 000 unknown jobs', misspeltJobs(22_000)],
  ['60 000 unknown keys', `- job:\n    name: a\n${many(60_000, index => `    key${index}: 1\n`)}`],
  ['20 000 stanzas with a duplicate key', many(20_000, () => '- job:\n    name: a\n    name: b\n')],
  [
    'a cycle of 20 000 parents',
    many(20_000, index => `- job: {name: j${index}, parent: j${(index + 1) % 20_000}}\n`),
  ],
  ['20 000 stanzas', many(20_000, () => '- project:\n    check:\n      jobs: [x]\n')],
  [
    '20 000 definitions of one job and heirs',
    many(10_000, index => `- job: {name: a, run: a}\n- job: {name: b${index}, parent: a}\n`),
  ],
  ['a list of 500 000 values', `[${'a,'.repeat(500_000)}]`],
  ['anchors and aliases', `- &a [x]\n- &b [*a,*a,*a]\n${'- [*b,*b,*b,*b]\n'.repeat(40_000)}`],
  [
    'merge keys',
    `- project: &p\n${many(2000, index => `    k${index}: {jobs: [x]}\n`)}${'- project: {<<: *p}\n'.repeat(45_000)}`,
  ],
  ['140 000 tags', '- !a b\n'.repeat(140_000)],
  ['costly expressions', `- job:\n    name: a\n    files:\n${'      - "(a{500}|b){1,2}x"\n'.repeat(190)}`],
  [
    '13 000 expressions as names of projects',
    many(13_000, index => `- project: {name: ^acme/a${index}.*, check: {jobs: [x]}}\n`),
  ],
  ['a scalar of 200 000 folded lines', `- >\n${'  a\n\n'.repeat(200_000)}`],
];
