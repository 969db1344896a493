import { expect, test } from 'vitest';
import { projectKey } from '../../../src/model/project.ts';
import { sharedPlace, workspacePlace } from '../../../src/model/workspace-place.ts';

const keyOf = (name: string) => projectKey({ connection: 'local', name });

test.each([
  ['acme/app', undefined, 'example.org/acme/app'],
  ['acme/app', 'golang', 'example.org/acme/app'],
  ['acme/app', 'flat', 'app'],
  ['app', 'flat', 'app'],
  ['acme/sub/my app', 'unique', 'example.org/acme/acme%2Fsub%2Fmy+app'],
  ["acme/it's", 'unique', 'example.org/acme/acme%2Fit%27s'],
  ['app', 'unique', 'example.org/app/app'],
] as const)('%s is with scheme %s at src/%s, as in Zuul', (name, scheme, place) => {
  expect(workspacePlace(scheme, keyOf(name), `example.org/${name}`)).toBe(place);
});

test('two projects at one place are named, one that is there twice is not', () => {
  const [one, two] = [keyOf('acme/app'), keyOf('other/app')];
  expect(sharedPlace([one, one].map(project => ({ project, place: 'app' })))).toBeUndefined();
  expect(sharedPlace([one, two].map(project => ({ project, place: 'app' })))).toBe(
    'projects acme/app and other/app are both checked out at src/app; choose workspace-scheme golang or unique',
  );
});
