/** In which order a workspace is prepared: what waits for what. */
import { expect, test } from 'vitest';
import { createBuildSteps } from '../../../src/executor/build-steps.ts';
import { WorkspaceFailure } from '../../../src/executor/git-process.ts';
import { prepareWorkspace, type WorkspaceDeps } from '../../../src/executor/workspace.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { buildRequest, CANONICAL, projectAt } from './fixture.ts';

type Answer = Awaited<ReturnType<WorkspaceDeps['repositories']['provide']>>;

const [TESTED, PLAYBOOKS] = ['a'.repeat(40), 'b'.repeat(40)] as const;

/** A workspace whose commits come when the test says. */
function prepared(request: ReturnType<typeof buildRequest>) {
  const asked: string[] = [];
  const answer = Promise.withResolvers<Answer>();
  const deps = {
    checkoutBytes: null,
    repositories: {
      provide({ commit }: { readonly commit: string }) {
        asked.push(commit);
        return answer.promise;
      },
    },
    sandbox: { ownerOf: () => null, view: () => ({}) },
  } as unknown as WorkspaceDeps;
  const clock = systemClock();
  const workspace = prepareWorkspace(deps, request, {} as never, 0, createBuildSteps(clock, clock.now()));
  return { asked, workspace, fail: () => answer.resolve({ kind: 'unavailable', reason: 'it is gone' }) };
}

test('the commits of playbooks are obtained beside those of the projects', async () => {
  const request = buildRequest(PLAYBOOKS, { run: ['ci/ok.sh'] });
  const { asked, workspace, fail } = prepared({ ...request, projects: [projectAt(TESTED)] });
  await expect.poll(() => asked).toEqual([TESTED, PLAYBOOKS]);
  fail();
  await expect(workspace).rejects.toThrow(WorkspaceFailure);
});

test('playbooks of the commit that is tested wait for its checkout', async () => {
  const request = buildRequest(TESTED, { run: ['ci/ok.sh'] });
  const library = projectAt(PLAYBOOKS, { canonicalName: `${CANONICAL}-library` });
  const { asked, workspace, fail } = prepared({ ...request, projects: [projectAt(TESTED), library] });
  await expect.poll(() => asked).toEqual([TESTED, PLAYBOOKS]);
  fail();
  await expect(workspace).rejects.toThrow(`commit ${TESTED} of ${CANONICAL} cannot be had: it is gone`);
  expect(asked).toHaveLength(2);
});
