/** git's reads over a channel: `git-upload-pack '/acme/app'`. */
import type { ServerChannel } from 'ssh2';
import { startAside } from '../../../../src/git/starter/start-aside.ts';
import { may } from '../authority.ts';
import type { FakeAccount, GerritWorld } from '../world.ts';

/** @param protocol value of `GIT_PROTOCOL`, as git sends it. @returns exit status */
export async function serveUploadPack(
  world: GerritWorld,
  caller: FakeAccount,
  path: string,
  protocol: string,
  channel: ServerChannel,
): Promise<number> {
  const project = world.projects.get(path.replace(/^\//, '').replace(/\.git$/, ''));
  if (project === undefined || !may(caller, 'read', project)) {
    channel.stderr.write(`fatal: project not found: ${path}\n`);
    return 128;
  }
  const child = startAside({
    file: 'git',
    args: ['upload-pack', '--strict', project.dir],
    cwd: '/',
    env: {
      PATH: process.env.PATH ?? '/usr/bin:/bin',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_PROTOCOL: protocol,
    },
  });
  // It may end before it has read everything.
  child.stdin.on('error', () => {});
  channel.pipe(child.stdin);
  for await (const piece of child.stdout) channel.write(piece);
  const end = await child.ended;
  return end.kind === 'exited' ? (end.code ?? 128) : 128;
}
