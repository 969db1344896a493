/** Attributes of pipelines as Zuul has them, where a detail counts. */
import { expect, test } from 'vitest';
import { errorsOf, layoutOf } from './fixture.ts';

const pipeline = (rest: string, manager = 'independent') => `
- pipeline:
    name: tried
    manager: ${manager}
    ${rest}
`;
const built = (rest: string, manager?: string) => {
  const layout = layoutOf({ config: pipeline(rest, manager) });
  return {
    check: layout.pipelines.get('tried'),
    said: layout.errors.map(({ severity, text }) => `${severity}: ${text}`),
  };
};

test('an independent pipeline may ignore dependencies; elsewhere it is a warning', () => {
  expect(built('ignore-dependencies: true').check).toMatchObject({ ignoresDependencies: true });
  expect(built('ignore-dependencies: false').check).not.toHaveProperty('ignoresDependencies');
  const { check, said } = built('ignore-dependencies: true', 'dependent');
  expect(check).not.toHaveProperty('ignoresDependencies');
  expect(said).toEqual([
    'warning: "ignore-dependencies" has no effect: it is for independent pipelines; a dependent one always enters them, the others never look at them',
  ]);
});

test('failure speaks for conflicts and configuration errors also where those name no reporter', () => {
  const { check } = built(
    'failure: {local: {note: true}}\n    merge-conflict: {}\n    config-error: {local: {}}',
  );
  expect(check?.reporters['merge-conflict']).toEqual(check?.reporters.failure);
  expect(check?.reporters['config-error']).toHaveLength(1);
  expect(check?.reporters['config-error']).not.toEqual(check?.reporters.failure);
});

test('messages may be empty, and three of them have replacement fields', () => {
  const { check, said } = built(
    "start-message: 'Starting {pipeline.name} for {changes[0].number}: {item_url}'\n    footer-message: ''\n    success-message: Braces {stay}.",
  );
  expect(said).toEqual([]);
  expect(check?.messages).toEqual({
    start: 'Starting {pipeline.name} for {changes[0].number}: {item_url}',
    footer: '',
    success: 'Braces {stay}.',
  });
});

test.each([
  [
    "start-message: 'Starting {pipleine}'",
    '"start-message": {pipleine} is no replacement field; known are pipeline,',
  ],
  ["no-jobs-message: 'nothing }'", '"no-jobs-message": a single "}" is not allowed'],
  [
    'supercedes: chekc',
    'pipeline tried supercedes pipeline chekc, which is not defined, did you mean "check"?',
  ],
])('%s is a mistake', (rest, text) => {
  expect(errorsOf(layoutOf({ config: pipeline(rest) })).join('\n')).toContain(text);
});

test('a pipeline that supercedes an unknown one works all the same', () => {
  expect(built('supercedes: experimental').check).toMatchObject({ supercedes: ['experimental'] });
});

test('a description of the variant is taken with a warning', () => {
  expect(built('variant-description: of stable branches').said).toEqual([
    'warning: "variant-description" has no effect: a pipeline is defined once, so nothing shows it',
  ]);
});
