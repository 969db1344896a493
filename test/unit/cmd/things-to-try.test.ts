/** The scripts that the quickstart offers run as they are, in order, for a person without settings of git. */
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { git } from '../../../src/cmd/quickstart/developer.ts';
import { prepareSite, TRY } from '../../../src/cmd/quickstart/prepare-site.ts';
import { THINGS_TO_TRY } from '../../../src/cmd/quickstart/things-to-try.ts';

test('each thing to try pushes a proposal and its approval', async () => {
  const directory = await mkdtemp(path.join(tmpdir(), 'gatehouse-try-'));
  try {
    // Port 9 discards: no service is needed to push.
    const site = await prepareSite({ directory, port: 9, token: 'token', logLevel: 'warn' });
    const environment = { PATH: process.env.PATH, HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' };
    for (const { file } of THINGS_TO_TRY)
      execFileSync('sh', [path.join(directory, TRY, file.path)], { env: environment, stdio: 'pipe' });
    const pushed = async (project: string) => {
      const refs = await git(
        site.repositories.get(project) ?? '',
        'for-each-ref',
        '--format=%(refname:lstrip=2) %(contents:subject)',
      );
      return refs.split('\n').filter(line => !line.startsWith('master'));
    };
    expect(await pushed('acme/app')).toEqual([
      'for/master/fails Fail in the gate',
      'for/master/mine Let the test pass',
      'gate/master/fails Fail in the gate',
      'gate/master/mine Let the test pass',
    ]);
    expect(await pushed('acme/api')).toEqual([
      'for/master/behind Serve one more route',
      'gate/master/behind Serve one more route',
    ]);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
