/**
 * A process at work in a mirror that others share: `mirror-worker.ts <root> <url> <round> …`. Fetches the branch and every proposal
 * (`refs/pull/<n>/head`) of the host and merges them in order, again and again while the host gets new ones; prints one line
 * `<number of proposals> <commit of the whole chain>` per pass, and ends after the pass that saw `<last>` proposals.
 */

import { flushCompileCache } from 'node:module';
import { parseRefName } from '../../../src/git/objects/ref-name.ts';
import { createGit } from '../../../src/git/process/git.ts';
import { openRepositoryCache } from '../../../src/git/repository-cache.ts';
import { IDENTITY } from './open-repository.ts';

// What is killed keeps nothing of what it compiled, and the next one would compile all of it again.
flushCompileCache();

const [root = '', url = '', last = '1'] = process.argv.slice(2);
const MAIN = parseRefName('refs/heads/main');

await using cache = await openRepositoryCache({
  root,
  git: createGit({ identity: IDENTITY }),
  mergeTreeMode: 'unbuffered-coprocess',
});
const repository = await cache.repository('local', 'app');

async function pass(): Promise<number> {
  const listing = await repository.lsRemote({ url });
  if (listing.kind !== 'refs') throw new Error(listing.message);
  const proposals = [...listing.refs]
    .filter(([ref]) => ref.startsWith('refs/pull/'))
    .toSorted(([a], [b]) => Number(a.split('/')[2]) - Number(b.split('/')[2]));
  const wants = [{ ref: MAIN }, ...proposals.map(([ref]) => ({ ref }))];
  const fetched = await repository.fetch({ url }, wants);
  if (fetched.kind !== 'fetched') throw new Error(fetched.message);
  const [base] = fetched.commits;
  if (base === undefined) throw new Error('there is no branch main');
  const steps = proposals.map(([ref, change]) => ({ change, message: `Merge ${ref}` }));
  const merged = await repository.chain.merge(base, steps);
  if (merged.kind !== 'merged') throw new Error(merged.kind);
  process.stdout.write(`${proposals.length} ${merged.links.at(-1)?.commit ?? base}\n`);
  return proposals.length;
}

while ((await pass()) < Number(last));
