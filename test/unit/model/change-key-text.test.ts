import { expect, it } from 'vitest';
import { changeKey, changeKeyText, refUpdateKey } from '../../../src/model/change.ts';
import { parseCommitId, projectKey } from '../../../src/model/project.ts';

const app = projectKey({ connection: 'local', name: 'acme/app' });

it('a change of which only the key is known is named as its author names it', () => {
  expect(changeKeyText(changeKey(app, 'master/login'))).toBe('acme/app master/login');
  expect(changeKeyText(changeKey(app, 'master/a#b@refs/c'))).toBe('acme/app master/a#b@refs/c');
  expect(changeKeyText(refUpdateKey(app, 'refs/tags/v1#2', parseCommitId('3f'.repeat(20))))).toBe(
    'acme/app refs/tags/v1#2 3f3f3f3f',
  );
  expect(changeKeyText(refUpdateKey(app, 'refs/heads/a@b', null))).toBe('acme/app refs/heads/a@b (deleted)');
  const odd = projectKey({ connection: 'local', name: 'a@b' });
  expect(changeKeyText(changeKey(odd, '7'))).toBe('a@b 7');
});
