import { describe, expect, test } from 'vitest';
import type { LabelInfo } from '../../../../../drivers/gerrit/api/label-info.ts';
import type { GerritFacts, ParentFact, SubmitRequirement } from '../../../../../drivers/gerrit/facts.ts';
import { gerritMergeability } from '../../../../../drivers/gerrit/landing/can-land.ts';
import { gerritFacts } from '../../../../../drivers/gerrit/reading/change-facts.ts';
import type { Json } from '../../../../../src/model/job.ts';
import { gerritRecord, label, refRecord, vote } from '../language/gerrit-change.ts';
import { changeHistory } from '../reading/change-history.ts';

const voter = { tenant: 'acme', pipeline: 'gate' };

/** What it says of a change, for a pipeline that reports its success so. */
function says(
  facts: Partial<GerritFacts>,
  reporter: Json = { Verified: 2, submit: true },
  record = gerritRecord(facts),
): string {
  const ourVotes = [gerritMergeability.votesOf(reporter, voter)];
  const { met, text } = gerritMergeability.canLand(record, { ourVotes, mode: 'api' });
  return `${met ? 'yes' : 'no'}: ${text}`;
}

const ALL_MET = 'yes: all submit rules of branch master of acme/app are met';

describe('a change lands', () => {
  test('where nothing is missing', () => {
    expect(says({})).toBe(ALL_MET);
    expect(says({ private: true })).toBe(ALL_MET);
    expect(says({ mergeable: null })).toBe(ALL_MET);
  });

  test('not when it is work in progress, or abandoned', () => {
    expect(says({ wip: true, submittable: true })).toBe('no: the change is work in progress');
    expect(says({}, {}, gerritRecord({ status: 'ABANDONED' }, 'abandoned'))).toBe(
      'no: the change is abandoned',
    );
  });

  test('when it has landed, and when it is the update of a branch', () => {
    expect(says({}, {}, gerritRecord({ status: 'MERGED', mergeable: false }, 'merged'))).toBe(
      'yes: it is merged',
    );
    expect(says({}, {}, refRecord('refs/heads/master'))).toBe('yes: it is not a change');
  });

  test('not while Gerrit sees a conflict', () => {
    expect(says({ mergeable: false, submittable: true })).toBe(
      'no: Gerrit sees a conflict with branch master of acme/app: rebase the change',
    );
    expect(says({ mergeable: false, submitType: 'FAST_FORWARD_ONLY' })).toBe(
      'no: branch master of acme/app takes fast-forwards only, and the change is not built on its head: rebase it',
    );
  });
});

describe('the change below', () => {
  const parent = (parts: Partial<ParentFact>): Partial<GerritFacts> => ({
    parents: [{ number: 17, patchset: 1, currentPatchset: 1, status: 'NEW', ...parts }],
  });

  test('is the matter of the queue while it is open', () => {
    expect(says(parent({}))).toBe(ALL_MET);
  });

  test('holds it up when it is outdated or abandoned', () => {
    expect(says(parent({ currentPatchset: 3 }))).toBe(
      'no: the change is built on 17,1, which is outdated: 17 has patch set 3, rebase the change',
    );
    expect(says(parent({ status: 'ABANDONED' }))).toBe(
      'no: the change is built on 17,1, which is abandoned: rebase the change',
    );
  });

  test('does not count where Gerrit cherry-picks', () => {
    expect(says({ ...parent({ currentPatchset: 3 }), submitType: 'CHERRY_PICK' })).toBe(ALL_MET);
  });
});

describe('labels, where Gerrit sends neither records nor requirements', () => {
  const labels = [
    label('Verified', 'needed'),
    label('Code-Review', 'needed'),
    label('Workflow', 'optional', { max: 1 }),
  ];

  test('that are missing are named, and ours is left out', () => {
    expect(says({ labels, submittable: false })).toBe(
      'no: branch master of acme/app requires the vote Code-Review +2 (missing)',
    );
    expect(
      says({ labels: [label('Verified', 'needed'), label('Code-Review', 'met')], submittable: false }),
    ).toBe(ALL_MET);
  });

  test('that block name the votes that do', () => {
    const rejected = [label('Verified', 'met'), label('Code-Review', 'rejected')];
    expect(says({ labels: rejected, approvals: [vote('Code-Review', -2, 'bob')] })).toBe(
      'no: branch master of acme/app requires the vote Code-Review +2 (blocked by Code-Review -2 by bob)',
    );
    expect(says({ labels: rejected })).toContain('Code-Review +2 (blocked)');
  });

  test('an earlier vote of ours may block: the next one takes its place', () => {
    const facts = {
      labels: [label('Verified', 'rejected')],
      approvals: [vote('Verified', -2, 'zuul')],
      submittable: false,
    };
    expect(says(facts)).toBe(ALL_MET);
  });

  test('a vote of the pipeline that is too low is named', () => {
    expect(says({ labels: [label('Verified', 'needed')] }, { Verified: 1, submit: true })).toBe(
      'no: branch master of acme/app requires the vote Verified +2 (the pipeline votes Verified +1)',
    );
    expect(says({ labels: [label('Verified', 'needed', { max: 1 })] }, { Verified: 1 })).toBe(ALL_MET);
    expect(says({ labels: [label('Verified', 'needed', { max: null })] }, { Verified: 1 })).toBe(ALL_MET);
  });

  test('a vote that the account may not give is named', () => {
    const may = { ours: { min: -1, max: 1 } };
    expect(says({ labels: [label('Verified', 'needed', may)] })).toBe(
      'no: branch master of acme/app requires the vote Verified +2 (which the account may not give on acme/app)',
    );
    expect(says({ labels: [label('Verified', 'met', may)] })).toBe(ALL_MET);
    expect(says({ labels: [label('Verified', 'needed', { ours: null })] })).toBe(ALL_MET);
    expect(says({ labels: [label('Verified', 'needed', { ours: { min: 0, max: 0 } })] })).toContain(
      'Verified +2 (which the account may not give',
    );
  });

  test('are named up to a number', () => {
    const many = Array.from({ length: 100 }, (_, index) => label(`L${index}`, 'needed'));
    expect(says({ labels: many })).toMatch(/L4 \+2 \(missing\) and 95 more$/);
  });

  test('when all are there and Gerrit still says no, that is said', () => {
    expect(says({ labels: [label('Verified', 'met')], submittable: false })).toBe(
      'no: Gerrit says that branch master of acme/app does not take the change, and names no rule',
    );
  });
});

describe('submit records', () => {
  const record = (
    labels: NonNullable<GerritFacts['submitRecords']>[number]['labels'],
    parts: Partial<NonNullable<GerritFacts['submitRecords']>[number]> = {},
  ) => [{ status: 'NOT_READY', labels, requirements: [], error: null, ...parts }];

  test('that need or reject a label name it, and ours is left out', () => {
    const submitRecords = record([
      { label: 'Verified', status: 'NEED' },
      { label: 'Code-Review', status: 'OK' },
      { label: 'Workflow', status: 'NEED' },
      { label: 'Legal', status: 'IMPOSSIBLE' },
      { label: 'Library', status: 'MAY' },
    ]);
    expect(says({ submitRecords, labels: [label('Workflow', 'needed', { max: 1 })] })).toBe(
      'no: branch master of acme/app requires the votes Workflow +1 (missing), Legal (which no account may give)',
    );
    expect(says({ submitRecords: record([{ label: 'Verified', status: 'REJECT' }]) })).toBe(ALL_MET);
  });

  test('that are fulfilled demand nothing', () => {
    const submitRecords = record([{ label: 'Workflow', status: 'NEED' }], { status: 'OK' });
    expect(says({ submitRecords })).toBe(ALL_MET);
  });

  test('with rules that are no labels say them', () => {
    expect(says({ submitRecords: record([], { requirements: ['All comments must be resolved'] }) })).toBe(
      'no: branch master of acme/app requires All comments must be resolved',
    );
  });

  test('without labels, as a Gerrit before 3.5 gives them, leave labels to speak for themselves', () => {
    const submitRecords = record([], { requirements: ['Owners have to approve'] });
    const labels = [label('Verified', 'needed'), label('Code-Review', 'needed')];
    expect(says({ submitRecords, labels })).toBe(
      'no: branch master of acme/app requires the vote Code-Review +2 (missing)',
    );
    expect(says({ submitRecords: record([], { status: 'OK' }), labels })).toBe(ALL_MET);
  });

  test('that Gerrit could not make give their error', () => {
    const submitRecords = record([], { status: 'RULE_ERROR', error: 'no submit_rule' });
    const text = 'no: Gerrit cannot judge the submit rules of branch master of acme/app: no submit_rule';
    expect(says({ submitRecords })).toBe(text);
    expect(says({ submitRecords, submitRequirements: [] })).toBe(text);
  });
});

describe('submit requirements', () => {
  const requirement = (expression: string, parts: Partial<SubmitRequirement> = {}): SubmitRequirement => ({
    name: 'Rule',
    status: 'UNSATISFIED',
    labels: [...expression.matchAll(/label:["{]?([A-Za-z][\w-]*?)(?=[<>=+,]|-\d)/g)].map(
      ([, name]) => name ?? '',
    ),
    expression,
    ...parts,
  });
  const labels = [label('Verified', 'needed'), label('Code-Review', 'needed')];
  const judged = (expression: string, parts: Partial<GerritFacts> = {}, reporter?: Json) =>
    says({ submitRequirements: [requirement(expression)], labels, submittable: false, ...parts }, reporter);

  test('that need something else than our votes are named with their expression', () => {
    expect(judged('label:Code-Review=MAX AND -label:Code-Review=MIN')).toBe(
      'no: branch master of acme/app requires Rule (label:Code-Review=MAX AND -label:Code-Review=MIN)',
    );
    expect(judged('-has:submodule-update')).toBe(
      'no: branch master of acme/app requires Rule (-has:submodule-update)',
    );
  });

  test.each([
    'label:Verified=MAX',
    'label:Verified=MAX AND -label:Verified=MIN',
    'label:Verified>=2',
    'label:Verified+2',
    '(label:Verified=MAX OR label:Override=MAX) NOT label:Verified=MIN',
    'label:"Verified=MAX,user=non_uploader"',
    'label:Verified=MAX,group=CI',
    'label:Verified=MAX AND branch:master',
    'label:Verified=ANY',
    // Cut: what follows is not known.
    'label:Verified=MAX AND (label:Veri',
  ])('that our vote satisfies do not count: %s', expression => {
    expect(judged(expression)).toBe(ALL_MET);
  });

  test.each([
    'label:Verified=MAX AND label:Code-Review=MAX',
    'label:Verified=MAX label:Code-Review>=1',
    'label:Verified>2',
    'label:Verified=1',
    'NOT (label:Verified=MAX OR is:wip)',
  ])('that our vote alone does not satisfy do: %s', expression => {
    expect(judged(expression)).toMatch(
      /^no: .* requires Rule \(.*, also with Verified \+2 of the pipeline\)$/,
    );
  });

  test('count the votes that are there', () => {
    const both = 'label:Verified=MAX AND label:Code-Review=MAX,user=non_uploader';
    expect(judged(both, { approvals: [vote('Code-Review', 2, 'bob')] })).toBe(ALL_MET);
    expect(judged(both, { approvals: [vote('Code-Review', 2, 'alice')] })).toMatch(/^no/);
    const noVeto = 'label:Verified=MAX AND -label:Code-Review=MIN';
    expect(judged(noVeto, { approvals: [vote('Code-Review', -2, 'bob')] })).toMatch(/^no/);
  });

  test('take an earlier vote of the label for one that ours may replace', () => {
    expect(
      judged('label:Verified=MAX AND -label:Verified=MIN', { approvals: [vote('Verified', -2, 'zuul')] }),
    ).toBe(ALL_MET);
  });

  test('name a vote that is too low, and one that the account may not give', () => {
    expect(judged('label:Verified=MAX', {}, { Verified: 1 })).toBe(
      'no: branch master of acme/app requires Rule (label:Verified=MAX, also with Verified +1 of the pipeline)',
    );
    expect(
      judged('label:Verified=MAX', {
        labels: [label('Verified', 'optional', { ours: { min: -1, max: 1 } })],
      }),
    ).toBe(
      'no: branch master of acme/app requires Rule (label:Verified=MAX), and the account may not vote Verified +2 on acme/app',
    );
  });

  test.each(['SATISFIED', 'OVERRIDDEN', 'NOT_APPLICABLE', 'FORCED'] as const)(
    'that are %s count as met',
    status => {
      expect(says({ submitRequirements: [requirement('is:never', { status })] })).toBe(ALL_MET);
    },
  );

  test('that Gerrit cannot evaluate hold it up', () => {
    expect(says({ submitRequirements: [requirement('label:Verified=MOST', { status: 'ERROR' })] })).toBe(
      'no: branch master of acme/app requires Rule (Gerrit cannot evaluate label:Verified=MOST)',
    );
  });

  test('stand for the labels where there are both', () => {
    expect(says({ submitRequirements: [], labels: [label('Code-Review', 'needed')] })).toBe(ALL_MET);
  });

  test('do not count once Gerrit says that the change can be submitted', () => {
    expect(judged('is:never', { submittable: true })).toBe(ALL_MET);
  });
});

test('the votes of a reporter are its labels', () => {
  expect(gerritMergeability.votesOf({ Verified: 2, submit: true, notify: 'NONE' }, voter)).toEqual({
    votes: [{ label: 'Verified', value: 2 }],
  });
  expect(gerritMergeability.votesOf(null, voter)).toEqual({ votes: [] });
});

test('an account without any right to a label is found by what Gerrit permits', () => {
  const history = changeHistory(12, { submittable: false });
  history.push();
  const read = history.now();
  const ofPermitted = (permitted: LabelInfo['permitted']) => {
    const labels = read.labels.map(each => ({ ...each, values: [-1, 0, 1], permitted, isOptional: false }));
    const facts = gerritFacts({ ...read, labels: labels.filter(({ name }) => name === 'Verified') }, []);
    return says(facts, { Verified: 1, submit: true });
  };
  expect(ofPermitted([])).toContain('Verified +1 (which the account may not give on acme/app)');
  expect(ofPermitted([-1, 0])).toContain('Verified +1 (which the account may not give on acme/app)');
  expect(ofPermitted([-1, 0, 1])).toBe(ALL_MET);
  expect(ofPermitted(null)).toBe(ALL_MET);
});
