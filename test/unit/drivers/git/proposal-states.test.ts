import { expect, test } from 'vitest';
import type { CommitGraph } from '../../../../drivers/git/commit-graph.ts';
import { readProposals } from '../../../../drivers/git/proposal-states.ts';
import type { Proposal } from '../../../../drivers/git/ref-view.ts';
import type { ProjectGit } from '../../../../drivers/git/remote-git.ts';
import { parseObjectId } from '../../../../src/git/objects/object-id.ts';
import { parseRefName } from '../../../../src/git/objects/ref-name.ts';
import { parseNanoseconds } from '../../../../src/lib/clock.ts';
import { projectKey } from '../../../../src/model/project.ts';

const NOW = parseNanoseconds('1795000000123456789');
const commit = (n: number) => parseObjectId(n.toString(16).padStart(40, '0'));
const TIP = commit(1);

test('thousands of proposals are one question to the mirror, and one with too many commits is refused alone', async () => {
  const graph = new Map(Array.from({ length: 2_500 }, (_, n) => [commit(10 + n), [TIP]]));
  // One proposal is a row of 2 001 commits.
  for (let n = 0; n < 2_001; n++) graph.set(commit(10_000 + n), [n === 0 ? TIP : commit(9_999 + n)]);
  const heads = [...Array.from({ length: 2_500 }, (_, n) => commit(10 + n)), commit(12_000)];
  const proposals = heads.map((head, n): [string, Proposal] => {
    const [branch, topic] = ['main', `t${n}`];
    const ref = parseRefName(`refs/heads/for/main/${topic}`);
    return [`main/${topic}`, { id: `main/${topic}`, branch, topic, ref, commit: head }];
  });
  let questions = 0;
  const git: Pick<ProjectGit, 'beyond' | 'text'> = {
    async beyond(): Promise<CommitGraph> {
      questions += 1;
      return graph;
    },
    text: async () => ({ subject: 'one', author: 'Ada', message: '', parents: [] }) as never,
  };
  const view = {
    branches: new Map([['main', TIP]]),
    tags: new Map(),
    proposals: new Map(proposals),
    misdirected: new Map(),
    approvals: new Map(),
  };
  const states = await readProposals(view, new Set(['main']), {
    project: projectKey({ connection: 'local', name: 'acme/app' }),
    git: git as ProjectGit,
    projects: undefined,
    now: NOW,
    absent: [],
  });
  expect(questions).toBe(1);
  const refused = states.filter(({ kind }) => kind === 'refused');
  expect(refused.map(({ proposal }) => proposal.commit)).toEqual([commit(12_000)]);
  expect(states).toHaveLength(2_501);
});
