/** The site of the captures: three labels, votes for all who signed in, +2 of Verified and submit for `CI`. */
import type { Access, GerritWorld, LabelType, RequirementRule } from './world.ts';

export const CODE_REVIEW: LabelType = {
  name: 'Code-Review',
  values: {
    [-2]: 'This shall not be merged',
    [-1]: 'I would prefer this is not merged as is',
    0: 'No score',
    1: 'Looks good to me, but another person must approve',
    2: 'Looks good to me, approved',
  },
  function: 'MaxWithBlock',
  copiedOn: [],
};

export const VERIFIED: LabelType = {
  name: 'Verified',
  values: { [-2]: 'Broken gate', [-1]: 'Fails', 0: 'No score', 1: 'Works for me', 2: 'Gated' },
  function: 'MaxWithBlock',
  copiedOn: [],
};

export const WORKFLOW: LabelType = {
  name: 'Workflow',
  values: { [-1]: 'Work in progress', 0: 'Ready for reviews', 1: 'Approved' },
  function: 'MaxWithBlock',
  copiedOn: [],
};

/** From 3.5 the labels themselves decide nothing: their functions are `NoBlock`, and a submit requirement names each. */
export function defaultLabels(version: GerritWorld['version']): LabelType[] {
  const labels = [VERIFIED, CODE_REVIEW, WORKFLOW];
  return version === '3.2' ? labels : labels.map(each => ({ ...each, function: 'NoBlock' }));
}

/** @param labels of a project that has its own: these come with requirements of their own, too */
export function defaultRequirements(
  version: GerritWorld['version'],
  labels: readonly LabelType[] | undefined,
): RequirementRule[] {
  if (version === '3.2' || labels !== undefined) return [];
  return defaultLabels(version).map(({ name }) => ({
    name,
    submittableIf: `label:${name}=MAX AND -label:${name}=MIN`,
  }));
}

export function defaultAccess(): Access {
  const registered = 'Registered Users';
  return {
    labels: [
      { label: 'Code-Review', group: registered, min: -2, max: 2 },
      { label: 'Verified', group: registered, min: -1, max: 1 },
      { label: 'Verified', group: 'CI', min: -2, max: 2 },
      { label: 'Verified', group: 'Administrators', min: -2, max: 2 },
      { label: 'Workflow', group: registered, min: -1, max: 1 },
    ],
    read: ['Anonymous Users'],
    submit: ['CI'],
    push: [],
    upload: [registered],
    viewPrivate: [],
  };
}
