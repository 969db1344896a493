/**
 * What a push runs into: Gerrit's own `receive-pack`. Objects are taken as git takes them; then each ref is either a branch or tag,
 * or `refs/for/<branch>[%options]`, which makes changes. Answers are those that people see behind `remote:`.
 */
import { buffer } from 'node:stream/consumers';
import { readRefs } from '../../fake/bare-repository.ts';
import { runGit } from '../../fake/git-repository.ts';
import { FLUSH, onBand, packet, readPackets } from '../../fake/pkt-line.ts';
import { may } from './authority.ts';
import { isAncestor, NO_COMMIT } from './bare-git.ts';
import { moveRef } from './doing/move-ref.ts';
import { type GitAnswer, type GitTask, unzipped } from './git-http.ts';
import { receiveForReview } from './refs-for.ts';
import { RestRefused } from './rest-refused.ts';
import type { FakeAccount, FakeProject, GerritWorld } from './world.ts';

const CAPABILITIES = 'report-status delete-refs side-band-64k quiet ofs-delta agent=JGit/5.6';

export interface Command {
  readonly before: string;
  readonly after: string;
  /** Full name, with the options of a review. */
  readonly ref: string;
}

/** What became of one ref. `text`: for people. */
export interface CommandResult {
  readonly ref: string;
  /** Undefined: done. */
  readonly refused?: string;
  readonly text?: string;
}

/** `info/refs?service=git-receive-pack` */
export async function advertiseRefs({ dir }: FakeProject): Promise<GitAnswer> {
  const refs = [...(await readRefs(dir))].filter(([ref]) => /^refs\/(heads|tags)\//.test(ref));
  const lines = (refs.length === 0 ? [['capabilities^{}', NO_COMMIT]] : refs).map(([ref, id], at) =>
    packet(at === 0 ? `${id} ${ref}\0${CAPABILITIES}\n` : `${id} ${ref}\n`),
  );
  const service = packet('# service=git-receive-pack\n');
  return {
    status: 200,
    headers: { 'content-type': 'application/x-git-receive-pack-advertisement', 'cache-control': 'no-cache' },
    body: Buffer.concat([service, FLUSH, ...lines, FLUSH]),
  };
}

/** `git-receive-pack` */
export async function receivePack(
  world: GerritWorld,
  project: FakeProject,
  by: FakeAccount,
  { request }: Pick<GitTask, 'request'>,
): Promise<GitAnswer> {
  const { lines, rest } = readPackets(await buffer(unzipped(request)));
  const commands = lines.flatMap(line => {
    const found = /^([0-9a-f]{40}) ([0-9a-f]{40}) ([^\0\n]+)/.exec(line);
    return found === null ? [] : [{ before: found[1] ?? '', after: found[2] ?? '', ref: found[3] ?? '' }];
  });
  if (rest.length > 0) await runGit(project.dir, ['index-pack', '--stdin', '--fix-thin'], rest);
  const results: CommandResult[] = [];
  for (const command of commands)
    results.push(await world.exclusively(() => carryOut(world, project, by, command)));
  const texts = results.map(each => each.text ?? '').join('');
  const report = results.map(({ ref, refused }) =>
    packet(refused === undefined ? `ok ${ref}\n` : `ng ${ref} ${refused}\n`),
  );
  const status = Buffer.concat([packet('unpack ok\n'), ...report, FLUSH]);
  return {
    status: 200,
    headers: { 'content-type': 'application/x-git-receive-pack-result', 'cache-control': 'no-cache' },
    body: Buffer.concat([...(texts === '' ? [] : [onBand(2, texts)]), onBand(1, status), FLUSH]),
  };
}

async function carryOut(
  world: GerritWorld,
  project: FakeProject,
  by: FakeAccount,
  command: Command,
): Promise<CommandResult> {
  try {
    return command.ref.startsWith('refs/for/')
      ? await receiveForReview(world, project, by, command)
      : await updateRef(world, project, by, command);
  } catch (error) {
    // What the doing itself refuses, e.g. a submit of what is not ready.
    if (!(error instanceof RestRefused)) throw error;
    return {
      ref: command.ref,
      refused: error.message.split('\n')[0] ?? '',
      text: `ERROR: ${error.message}\n`,
    };
  }
}

async function updateRef(
  world: GerritWorld,
  project: FakeProject,
  by: FakeAccount,
  { before, after, ref }: Command,
): Promise<CommandResult> {
  const exists = before !== NO_COMMIT;
  const deleted = after === NO_COMMIT;
  if (!/^refs\/(heads|tags)\/./.test(ref))
    return { ref, refused: `prohibited by Gerrit: not permitted: ${exists ? 'update' : 'create'}` };
  if (!may(by, 'push', project)) {
    const what = deleted ? 'delete' : exists ? 'update' : 'create';
    const text = `error: branch ${ref}:\nTo push into this reference you need 'Push' rights.\nUser: ${by.username}\nContact an administrator to fix the permissions\n`;
    return { ref, refused: `prohibited by Gerrit: not permitted: ${what}`, text };
  }
  if (exists && !deleted && ref.startsWith('refs/heads/') && !(await isAncestor(project.dir, before, after)))
    return { ref, refused: 'non-fast-forward' };
  const expected = exists ? before : null;
  try {
    await moveRef(world, { project, ref, before: expected, after: deleted ? null : after, by });
    return { ref };
  } catch (error) {
    if (!/cannot lock ref|is at .* but expected|reference already exists/.test(String(error))) throw error;
    return { ref, refused: 'failed to update ref' };
  }
}
