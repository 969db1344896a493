/** What a branch holds, commit by commit as it was landed, and what the service says it had tested. */
import path from 'node:path';
import { openFinishedItems } from '../../src/history/finished-items.ts';
import { isUuid } from '../../src/lib/ids.ts';
import { testedMergeOf } from '../../src/model/build-set.ts';
import { projectIdOf } from '../../src/model/project.ts';
import { buildsetsOf, type QueueItem } from '../../src/model/queue-item.ts';
import { answerFromFiles } from '../fake/answer-from-files.ts';
import { runGit } from '../fake/git-repository.ts';

export interface LandedCommit {
  readonly commit: string;
  readonly tree: string;
  /** Where the branch was before. */
  readonly before: string;
  /** The proposed commit it brought in. */
  readonly head: string;
  readonly subject: string;
}

/** Merge commits on the first-parent line of `branch`, oldest first; the commits the repository began with are left out. */
export async function landedCommits(bare: string, branch = 'master'): Promise<readonly LandedCommit[]> {
  const log = await gitText(
    bare,
    'log',
    '--first-parent',
    '--merges',
    '--reverse',
    '--format=%H %T %P|%s',
    branch,
  );
  return log.split('\n').flatMap(line => {
    const [ids = '', subject = ''] = line.split('|');
    const [commit, tree, before, head] = ids.split(' ');
    if (commit === undefined || tree === undefined || before === undefined || head === undefined) return [];
    return { commit, tree, before, head, subject };
  });
}

/** Full names of all refs and where they point. */
export async function refsOf(bare: string): Promise<ReadonlyMap<string, string>> {
  const text = await gitText(bare, 'for-each-ref', '--format=%(refname) %(objectname)');
  return new Map(text.split('\n').flatMap(line => (line === '' ? [] : [pairOf(line)])));
}

export async function gitText(bare: string, ...args: readonly string[]): Promise<string> {
  return (await answerFromFiles(bare, args)) ?? (await runGit(bare, args)).toString().trimEnd();
}

function pairOf(line: string): readonly [string, string] {
  const [name = '', id = ''] = line.split(' ');
  return [name, id];
}

/**
 * Every commit that was landed is exactly one that was tested for that change, on exactly what the branch held before, with
 * all voting jobs good. Empty: so it is.
 *
 * @param items finished items of the gate.
 */
export function untestedLandings(
  landed: readonly LandedCommit[],
  project: string,
  items: readonly QueueItem[],
): readonly string[] {
  return landed.flatMap(each => {
    const item = items.find(
      candidate =>
        candidate.changes.some(change => change.kind === 'change' && change.commit === each.head) &&
        candidate.phase.phase === 'left' &&
        candidate.phase.result === 'SUCCESS',
    );
    if (item === undefined) return [`${each.subject}: no item of the gate succeeded with it`];
    const tested = testedMergeOf(item.buildset)?.branches.find(
      branch => projectIdOf(branch.project).name === project,
    );
    const wrong = [
      ...(tested?.commit === each.commit ? [] : [`landed ${each.commit}, tested ${tested?.commit}`]),
      ...(tested?.tree === each.tree ? [] : [`landed tree ${each.tree}, tested ${tested?.tree}`]),
      ...(tested?.before === each.before ? [] : [`landed on ${each.before}, tested on ${tested?.before}`]),
      ...item.buildset.builds
        .filter(
          build =>
            build.voting &&
            build.state.state === 'completed' &&
            !['SUCCESS', 'RETRY'].includes(build.state.result),
        )
        .map(build => `${build.job} was no success`),
      ...(item.buildset.builds.length > 0 || item.buildset.stage.state === 'complete' ? [] : ['nothing ran']),
    ];
    return wrong.map(text => `${each.subject}: ${text}`);
  });
}

/** Landed again in another commit: must never happen. */
export function landedTwice(landed: readonly LandedCommit[]): readonly string[] {
  const heads = landed.map(each => each.head);
  return heads.filter((head, index) => heads.indexOf(head) !== index);
}

/**
 * Every item that left, newest first, as the history keeps it. Only reads: in the process of a running service, whose thread writes what
 * this one dictates, waiting for the end of a transaction would keep it from ending.
 */
export async function itemsInHistory(state: string, tenant: string): Promise<readonly QueueItem[]> {
  const opened = await openFinishedItems({ kind: 'sqlite', path: path.join(state, 'history.sqlite') });
  if (opened.kind === 'refused') throw new Error(opened.text);
  await using history = opened.items;
  const items: QueueItem[] = [];
  for (let after: number | null = 0; after !== null; ) {
    const page = await history.page({ tenant, after });
    items.push(...page.items);
    after = page.next;
  }
  return items.toReversed();
}

/** What must hold for every record of a finished item. Empty: it does. */
export function itemProblems(item: QueueItem): readonly string[] {
  const open = buildsetsOf(item).flatMap(buildset =>
    buildset.builds.filter(build => build.state.state === 'requested' || build.state.state === 'started'),
  );
  return [
    ...(isUuid(item.uuid) ? [] : ['its uuid is no trace id']),
    ...(item.phase.phase === 'left' ? [] : ['it has not left']),
    ...(item.timeline[0].since === item.enqueuedAt
      ? []
      : ['its timeline does not begin when it was enqueued']),
    ...open.map(build => `build ${build.job} ${build.uuid} never ended`),
    ...buildsetsOf(item)
      .slice(1)
      .flatMap(buildset => (buildset.cause === null ? [`buildset ${buildset.number} does not say why`] : [])),
  ].map(text => `${item.pipeline} ${item.uuid}: ${text}`);
}
