import { expect, test } from 'vitest';
import { publicRepositoryUrl } from '../../../src/tracing/repository-url.ts';

test.each([
  ['https://ci:secret@git.example.org/acme/app.git', 'https://git.example.org/acme/app.git'],
  ['https://git.example.org:8443/acme/app?token=secret#x', 'https://git.example.org:8443/acme/app'],
  ['ssh://git@git.example.org:29418/acme/app', 'ssh://git.example.org:29418/acme/app'],
  ['git@git.example.org:acme/app', 'ssh://git.example.org/acme/app'],
  ['git.example.org:/srv/acme/app', 'ssh://git.example.org/srv/acme/app'],
  ['/srv/git/acme/app', undefined],
  ['/srv/git:acme/app', undefined],
  ['file:///srv/git/acme/app', undefined],
  ['', undefined],
])('where people find %s is %s', (remote, url) => {
  expect(publicRepositoryUrl(remote)).toBe(url);
});
