import { expect, test } from 'vitest';
import { freezeJobGraph } from '../../../src/layout/freeze/freeze-job-graph.ts';
import { APP, layoutOf } from './fixture.ts';

test('a playbook says how many definitions came before the one that names it', () => {
  const app = `
- job: {name: middle, run: m.sh, pre-run: m.sh, post-run: m.sh}
- job: {name: deep, parent: middle, pre-run: d.sh, post-run: {name: d.sh, cleanup: true}}
- project: {check: {jobs: [deep: {post-run: listed.sh}]}}
`;
  const layout = layoutOf({ app });
  const outcome = freezeJobGraph({
    layout,
    pipeline: 'check',
    change: { project: APP, branch: 'master', files: ['a'] },
  });
  if (outcome.kind !== 'frozen') throw new Error(outcome.kind);
  const [job] = outcome.jobs;
  const levels = (phase: 'preRun' | 'run' | 'postRun') =>
    job?.[phase].map(({ path, level }) => `${path} ${level ?? 0}`);
  expect(levels('preRun')).toEqual(['setup.sh 0', 'm.sh 1', 'd.sh 2']);
  expect(levels('run')).toEqual(['m.sh 1']);
  expect(levels('postRun')).toEqual(['listed.sh 3', 'd.sh 2', 'm.sh 1', 'collect.sh 0']);
});
