/** git says what the refs are: what is read here is what it lists, or nothing. */
import { writeFileSync } from 'node:fs';
import { appendFile, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createGit } from '../../../src/git/process/git.ts';
import { readLocalRefs } from '../../../src/git/remote/local-refs.ts';
import { lsRemote } from '../../../src/git/remote/remote-refs.ts';
import { startAside } from '../../../src/git/starter/start-aside.ts';
import { createGitRepository, type GitRepository } from '../../fake/git-repository.ts';
import { IDENTITY } from './open-repository.ts';

const LISTED = ['refs/heads/', 'refs/tags/'];

let host: GitRepository;
let tip: string;
let other: string;
beforeEach(async () => {
  host = await createGitRepository();
  tip = await host.commit({ files: { a: '1' } });
  other = await host.commit({ files: { a: '2' } });
  await host.git('update-ref', 'refs/heads/for/main/login', tip);
  await host.git('update-ref', 'refs/notes/gatehouse', tip);
  await host.git('tag', '-a', '-m', 'first', 'v1', tip);
});
afterEach(() => host.remove());

async function listed(prefixes: readonly string[], url = host.path): Promise<readonly string[]> {
  const program = createGit({ identity: IDENTITY, start: startAside });
  const said = await program.run(['ls-remote', url]);
  if (said.kind !== 'ok') throw new Error(said.kind);
  const lines = said.stdout.toString().split('\n').filter(Boolean);
  return lines
    .map(line => line.split('\t'))
    .filter(([, name = '']) => !name.endsWith('^{}') && prefixes.some(prefix => name.startsWith(prefix)))
    .map(([id, name]) => `${name} ${id}`)
    .toSorted();
}

async function read(
  prefixes: readonly string[] = LISTED,
  url = host.path,
): Promise<readonly string[] | undefined> {
  const refs = await readLocalRefs({ url }, prefixes);
  return refs && [...refs].map(([name, id]) => `${name} ${id}`).toSorted();
}

describe('the refs of a repository on this disk', () => {
  it('are those that git lists, loose and packed', async () => {
    expect(await read()).toEqual(await listed(LISTED));
    await host.git('pack-refs', '--all', '--prune');
    expect(await read()).toEqual(await listed(LISTED));
    await host.git('update-ref', 'refs/heads/main', tip);
    await host.git('update-ref', 'refs/heads/deep/er/one', other);
    await host.git('update-ref', '-d', 'refs/heads/for/main/login');
    const refs = await read();
    expect(refs).toEqual(await listed(LISTED));
    expect(refs).toContain(`refs/heads/main ${tip}`);
    expect(refs).not.toContain(`refs/heads/for/main/login ${tip}`);
  });

  it('are narrowed to a folder, to one ref, and to the beginning of a name', async () => {
    for (const prefixes of [['refs/notes/'], ['refs/heads/main'], ['refs/heads/f'], ['refs/heads/for/main']])
      expect(await read(prefixes)).toEqual(await listed(prefixes));
    expect(await read(['refs/heads/nothing'])).toEqual([]);
  });

  it('are read where git would find the repository', async () => {
    const short = host.path.replace(/\.git$/, '');
    expect(await read(LISTED, short)).toEqual(await listed(LISTED));
    expect(await read(LISTED, host.url)).toEqual(await listed(LISTED));
  });

  it('are read without a process', async () => {
    const git = createGit({ identity: IDENTITY, start: startAside });
    expect(await lsRemote(git, { url: host.path }, LISTED)).toMatchObject({ kind: 'refs' });
    expect(git.spawns()).toBe(0);
  });
});

describe('git is asked', () => {
  const left = async (change: () => Promise<unknown>) => {
    expect(await read()).toBeDefined();
    await change();
    expect(await read()).toBeUndefined();
  };

  it.each([
    '[transfer]\n\thideRefs = refs/heads/for\n',
    '[uploadpack]\n\thiderefs = refs/heads/for\n',
    '[extensions]\n\trefStorage = reftable\n',
    '[include]\n\tpath = /etc/more\n',
    '[includeIf "onbranch:x"]\n\tpath = more\n',
  ])('where the repository has the setting %j', async setting => {
    await left(() => appendFile(`${host.path}/config`, setting));
  });

  it('about folders of thousands of files that are no refs', async () => {
    await left(async () => {
      const folder = `${host.path}/refs/heads/many`;
      await mkdir(folder);
      for (let index = 0; index <= 4_000; index += 1) writeFileSync(`${folder}/${index}.lock`, '');
    });
  });

  it('where the settings are a large file', async () => {
    await left(() => appendFile(`${host.path}/config`, `# ${'x'.repeat(70_000)}\n`));
  });

  it('where the file of the hook hides refs, and not because of the hook', async () => {
    await appendFile(`${host.path}/config`, '[include]\n\tpath = gatehouse.config\n');
    await writeFile(`${host.path}/gatehouse.config`, '[gatehouse]\n\turl = "http://gate"\n');
    await left(() => appendFile(`${host.path}/gatehouse.config`, '[transfer]\n\thideRefs = refs/heads\n'));
  });

  it('about symbolic and broken refs', async () => {
    await left(() => host.git('symbolic-ref', 'refs/heads/alias', 'refs/heads/main'));
    await host.git('symbolic-ref', '-d', 'refs/heads/alias');
    await left(() => writeFile(`${host.path}/refs/heads/broken`, ''));
    await rm(`${host.path}/refs/heads/broken`);
    await left(() => symlink('main', `${host.path}/refs/heads/link`));
  });

  it('for all refs, with settings for the remote, and about what is no directory', async () => {
    expect(await readLocalRefs({ url: host.path }, [])).toBeUndefined();
    const environment = { GIT_SSH_COMMAND: 'ssh' };
    expect(await readLocalRefs({ url: host.path, environment }, LISTED)).toBeUndefined();
    for (const url of ['https://git.example.org/a', 'git@host:a', `${host.path}/nowhere`])
      expect(await readLocalRefs({ url }, LISTED)).toBeUndefined();
  });

  it('where a file leads to the repository', async () => {
    const clone = `${host.path}-clone`;
    await mkdir(clone);
    await writeFile(`${clone}/.git`, `gitdir: ${host.path}\n`);
    expect(await read(LISTED, clone)).toBeUndefined();
  });

  it('about thousands of files', async () => {
    const lines = Array.from(
      { length: 2_001 },
      (_, index) => `create refs/heads/for/main/t${index} ${tip}\n`,
    );
    await left(() => host.raw(['update-ref', '--stdin'], lines.join('')));
  });
});
