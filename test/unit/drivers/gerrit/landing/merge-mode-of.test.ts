import { expect, test } from 'vitest';
import type { SubmitType } from '../../../../../drivers/gerrit/facts.ts';
import { agreesWith } from '../../../../../drivers/gerrit/landing/merge-mode-of.ts';
import { gerritChangeRecord } from '../../../../../drivers/gerrit/reading/change-record.ts';
import { changeRecordCodec } from '../../../../../src/model/codec/records.ts';
import type { MergeMode } from '../../../../../src/model/merge-mode.ts';
import { projectKey } from '../../../../../src/model/project.ts';
import { changeHistory } from '../reading/change-history.ts';

/** Of a change as it comes back from the store. */
function modeOf(submitType: SubmitType | null): MergeMode | undefined {
  const history = changeHistory(12, { submitType });
  history.push();
  const info = history.now();
  const record = gerritChangeRecord(info, {
    ...{
      project: projectKey({ connection: 'gerrit', name: 'acme/app' }),
      baseUrl: 'https://gerrit.example.org',
    },
    ...{ parents: [], named: [], lines: [], submitsTopics: false, readAt: info.updatedAt },
  });
  const { change } = changeRecordCodec.decode(changeRecordCodec.encode(record));
  return change.kind === 'change' ? change.mergeMode : undefined;
}

test.each<[SubmitType | null, MergeMode | undefined]>([
  ['MERGE_IF_NECESSARY', 'merge-resolve'],
  ['MERGE_ALWAYS', 'merge-resolve'],
  ['FAST_FORWARD_ONLY', 'merge-resolve'],
  ['INHERIT', 'merge-resolve'],
  ['REBASE_IF_NECESSARY', 'rebase'],
  ['REBASE_ALWAYS', 'rebase'],
  ['CHERRY_PICK', 'cherry-pick'],
  [null, undefined],
])('a change of a project that submits by %s is tested by %s', (submitType, mode) => {
  expect(modeOf(submitType)).toBe(mode);
});

test('every kind of merge agrees with a submit type that merges, and no squash with any', () => {
  expect(agreesWith('merge', 'MERGE_ALWAYS')).toBe(true);
  expect(agreesWith('merge-ort', 'FAST_FORWARD_ONLY')).toBe(true);
  expect(agreesWith('merge', 'REBASE_ALWAYS')).toBe(false);
  expect(agreesWith('cherry-pick', 'CHERRY_PICK')).toBe(true);
  expect(agreesWith('squash-merge', 'MERGE_ALWAYS')).toBe(false);
});
