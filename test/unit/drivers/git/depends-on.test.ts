import { describe, expect, test } from 'vitest';
import { changeOfUrl } from '../../../../drivers/git/depends-on.ts';
import { projectIdOf, projectKey } from '../../../../src/model/project.ts';

const LIB = projectKey({ connection: 'far', name: 'acme/lib' });

const named = (value: string) =>
  changeOfUrl(value, {
    connection: 'far',
    canonicalHostname: 'git.example.org',
    publicUrl: project => `https://www.example.org/srv/${projectIdOf(project).name}.git`,
    projects: new Set([LIB]),
  });

describe('a change of a git connection', () => {
  test.each([
    'acme/lib@master/fix',
    'git.example.org/acme/lib@master/fix',
    'git.example.org/acme/lib.git@master/fix',
    'https://www.example.org/srv/acme/lib@master/fix',
    'https://www.example.org/srv/acme/lib.git@master/fix',
    'https://someone@www.example.org/srv/acme/lib@master/fix',
  ])('is named by %s', value => {
    expect(named(value)).toBe(`${LIB}#master/fix`);
  });

  test('has a topic that may hold the sign before it', () => {
    expect(named('https://www.example.org/srv/acme/lib@master/x@y')).toBe(`${LIB}#master/x@y`);
  });

  test.each([
    'acme/other@master/fix',
    'elsewhere.example.org/acme/lib@master/fix',
    'https://www.example.org/acme/lib@master/fix',
    'https://www.example.org/srv/acme/lib',
    'https://git@www.example.org',
    '@master/fix',
    'the thing Bob does',
  ])('is not named by %s', value => {
    expect(named(value)).toBeUndefined();
  });
});
