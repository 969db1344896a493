import { describe, expect, it } from 'vitest';
import { derivedUuid } from '../../../../src/lib/ids.ts';
import { type Change, changeKey, refUpdateKey } from '../../../../src/model/change.ts';
import { MANAGER_NAMES, type ManagerName } from '../../../../src/model/pipeline.ts';
import { parseCommitId, projectKey } from '../../../../src/model/project.ts';
import { dependent } from '../../../../src/pipeline/manager/dependent.ts';
import type { Manager } from '../../../../src/pipeline/manager/manager.ts';
import { MANAGERS } from '../../../../src/pipeline/manager/managers.ts';

const APP = projectKey({ connection: 'local', name: 'app' });
const LIB = projectKey({ connection: 'local', name: 'lib' });
const COMMIT = parseCommitId('a'.repeat(40));

function proposed(id: string, branch: string, project = APP): Change {
  return {
    kind: 'change',
    key: changeKey(project, id),
    project,
    branch,
    id,
    patchset: COMMIT,
    commit: COMMIT,
    ref: `refs/heads/for/${branch}/${id}`,
    subject: id,
  };
}

function updated(ref: string, branch?: string): Change {
  const common = { kind: 'ref', key: refUpdateKey(APP, ref, COMMIT), project: APP, ref } as const;
  return { ...common, oldCommit: null, newCommit: COMMIT, ...(branch === undefined ? {} : { branch }) };
}

function queueOf(manager: ManagerName, change: Change, event = 'one'): string {
  const shared = { key: 'queue integrated', name: 'integrated' };
  return MANAGERS[manager].queueFor({ change, shared, event: derivedUuid('event', event) }).key;
}

describe('managers', () => {
  it('that are added to the union and have no answers do not compile', () => {
    // @ts-expect-error Property 'another' is missing
    const table: Record<ManagerName | 'another', Manager> = MANAGERS;
    expect(Object.keys(table).toSorted()).toEqual(MANAGER_NAMES.toSorted());
  });

  it('that leave a question open do not compile', () => {
    const { success: _, ...rest } = dependent;
    // @ts-expect-error Property 'success' is missing
    const open: Manager = rest;
    expect(open.success).toBeUndefined();
  });
});

describe('the queue of a change', () => {
  const A = proposed('A', 'master');

  it('is that of its project in a dependent and in a serial pipeline', () => {
    expect(queueOf('dependent', A)).toBe('queue integrated');
    expect(queueOf('serial', proposed('B', 'stable', LIB))).toBe('queue integrated');
  });

  it('is its own in an independent pipeline, each time it comes', () => {
    expect(queueOf('independent', A)).not.toBe(queueOf('independent', A, 'two'));
  });

  it('is that of its project and branch in a supercedent pipeline, in any shared queue', () => {
    expect(queueOf('supercedent', A)).toBe(queueOf('supercedent', proposed('B', 'master'), 'two'));
    expect(queueOf('supercedent', A)).not.toBe(queueOf('supercedent', proposed('B', 'stable')));
    expect(queueOf('supercedent', A)).not.toBe(queueOf('supercedent', proposed('B', 'master', LIB)));
  });

  it('is the same for a change and for an update of its branch, and another one for a tag', () => {
    expect(queueOf('supercedent', updated('refs/heads/master', 'master'))).toBe(queueOf('supercedent', A));
    expect(queueOf('supercedent', updated('refs/tags/v1'))).not.toBe(queueOf('supercedent', A));
    expect(queueOf('supercedent', updated('refs/tags/master'))).not.toBe(queueOf('supercedent', A));
  });
});
