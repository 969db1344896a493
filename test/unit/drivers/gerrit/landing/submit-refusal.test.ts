/** What Gerrit's refusals of a submit mean: those of a real Gerrit 3.2, and wordings of later ones. */
import { expect, test } from 'vitest';
import {
  judgeSubmitRefusal,
  type SubmitRefusal,
} from '../../../../../drivers/gerrit/landing/submit-refusal.ts';

const problems = (...lines: readonly string[]) =>
  [`Failed to submit ${lines.length} change due to the following problems:`, ...lines, ''].join('\n');

const cases: readonly (readonly [number, string, SubmitRefusal['kind'], string])[] = [
  [409, 'change is merged\n', 'merged', ''],
  [409, 'change is abandoned\n', 'refused', 'change is abandoned'],
  [409, 'change is closed\n', 'refused', 'change is closed'],
  [409, 'revision 3f2a91c0 is not current revision\n', 'changed', 'is not current revision'],
  [
    409,
    problems('Change 12: needs Verified; needs Workflow'),
    'refused',
    'it: needs Verified; needs Workflow',
  ],
  [409, problems("Change 12: submit requirement 'Code-Review' is unsatisfied."), 'refused', "'Code-Review'"],
  [
    409,
    problems('Change 17: needs Code-Review', 'Change 12: needs Verified'),
    'refused',
    'Change 17: needs Code-Review; needs Verified',
  ],
  [409, problems('Change 12: Change 12 is work in progress'), 'refused', 'mark it as ready'],
  [
    409,
    problems(
      'Change 12: Change could not be merged due to a path conflict. Please rebase the change locally and upload the rebased commit for review.',
    ),
    'conflict',
    'path conflict',
  ],
  [409, 'Merge Conflict', 'conflict', 'Merge Conflict'],
  [
    409,
    'Project policy requires all submissions to be a fast-forward.\n\nPlease rebase the change locally and upload again for review.',
    'conflict',
    'takes fast-forwards only',
  ],
  [
    409,
    problems(
      'Change 12: Depends on change that was not submitted. Commit aaaa depends on commit bbbb of change 11 which cannot be merged. Is the change of this commit not visible or was it abandoned?',
    ),
    'refused',
    'has to land first',
  ],
  [403, 'submit not permitted\n', 'refused', 'permission Submit'],
  [403, 'not permitted: submit\n', 'refused', 'permission Submit'],
  [403, 'something else', 'refused', 'permission Submit'],
  [409, 'change is new\n', 'busy', 'change is new'],
  [409, 'Update aborted with one or more lock failures: LOCK_FAILURE', 'busy', 'LOCK_FAILURE'],
  [409, 'The moon is full', 'refused', 'The moon is full'],
  [404, 'Not found: 12', 'refused', 'hidden from us'],
];

test.each(cases)('%i %j is %s', (status, said, kind, part) => {
  const meaning = judgeSubmitRefusal(status, said, 12);
  expect(meaning.kind).toBe(kind);
  if (meaning.kind !== 'merged') {
    expect(meaning.text).toContain(part);
    expect(meaning.text).not.toContain('\n');
  }
});
