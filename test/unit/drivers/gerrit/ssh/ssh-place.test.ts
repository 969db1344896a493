import { expect, test } from 'vitest';
import { streamPlace } from '../../../../../drivers/gerrit/listener/stream-loop.ts';

const SSH = { user: 'ci', port: 29_418, key: '/etc/gatehouse/id', knownHosts: '/etc/gatehouse/hosts' };
const OPTIONS = { server: 'review.example.org', ssh: SSH, streams: true, keepAlive: 60, pollInterval: 60 };

test('the stream comes from the server of SSH, which may have a name of its own', () => {
  expect(streamPlace(OPTIONS)).toMatchObject({ host: 'review.example.org', port: 29_418 });
  expect(streamPlace({ ...OPTIONS, ssh: { ...SSH, host: 'ssh.example.org' } })).toMatchObject({
    host: 'ssh.example.org',
  });
  expect(streamPlace({ ...OPTIONS, ssh: undefined })).toBeUndefined();
  expect(streamPlace({ ...OPTIONS, streams: false })).toBeUndefined();
});
