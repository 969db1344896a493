/** Pull request 1 of acme/app, as the driver reads it. */
import { changeKey, type ProposedChange } from '../../../../src/model/change.ts';
import { parseCommitId, projectKey } from '../../../../src/model/project.ts';

export const app = projectKey({ connection: 'github', name: 'acme/app' });

export function pullChange(head = 'a'.repeat(40)): ProposedChange {
  return {
    kind: 'change',
    key: changeKey(app, '1'),
    project: app,
    branch: 'main',
    id: '1',
    patchset: head,
    commit: parseCommitId(head),
    ref: 'refs/pull/1/head',
    subject: 'Log in',
    url: 'https://github.example.org/acme/app/pull/1',
  };
}
