import { describe, expect, test } from 'vitest';
import { readChangeKey } from '../../../src/driver/read-change-key.ts';
import { changeKey, refUpdateKey } from '../../../src/model/change.ts';
import { parseCommitId, projectKey } from '../../../src/model/project.ts';

const COMMIT = parseCommitId('3f'.repeat(20));
const isNumber = (text: string) => /^\d+$/.test(text);
const isProposal = (text: string) => /^[^/]+\/.+$/.test(text);
const project = (name: string) => projectKey({ connection: 'host', name });

describe('a change key names', () => {
  test.each([
    ['a change by number', 'acme/app', '12', isNumber],
    ['a change of a project with a # in its name', 'acme/a#7', '12', isNumber],
    ['a change of a project with an @ in its name', 'acme/a@b', '12', isNumber],
    ['a proposal', 'acme/app', 'master/login', isProposal],
    ['a proposal that looks like a ref', 'acme/app', `master/x@refs/heads/y@${COMMIT}`, isProposal],
    ['a proposal with a # in its topic', 'acme/app', 'master/fix#7', isProposal],
  ])('%s', (_, name, id, isId) => {
    const key = changeKey(project(name), id);
    expect(readChangeKey(key, 'host', isId)).toEqual({ kind: 'change', project: project(name), id });
  });

  test.each([
    ['a branch', 'acme/app', 'refs/heads/master', COMMIT, isNumber],
    ['a branch that was deleted', 'acme/app', 'refs/heads/master', null, isNumber],
    ['a branch of a project with a # in its name', 'acme/a#7', 'refs/heads/master', COMMIT, isNumber],
    ['a tag that looks like a number of a change', 'acme/app', 'refs/tags/v#12', COMMIT, isNumber],
    ['a tag that looks like a proposal', 'acme/app', 'refs/tags/v#master/x', COMMIT, isProposal],
    ['a tag with an @ in its name', 'acme/app', 'refs/tags/v@1', COMMIT, isNumber],
  ])('%s', (_, name, ref, commit, isId) => {
    const key = refUpdateKey(project(name), ref, commit);
    expect(readChangeKey(key, 'host', isId)).toEqual({ kind: 'ref', project: project(name), ref, commit });
  });

  test('nothing of another connection, and nothing where the id is none of the host', () => {
    expect(readChangeKey(changeKey(project('acme/app'), '12'), 'other', isNumber)).toBeUndefined();
    expect(readChangeKey(changeKey(project('acme/app'), 'master/x'), 'host', isNumber)).toBeUndefined();
    expect(readChangeKey(changeKey(project(''), '12'), 'host', isNumber)).toBeUndefined();
  });
});
