/** The `o=` options that a version knows: any other refuses the whole request. */
import { RestRefused } from './rest-refused.ts';
import type { GerritWorld } from './world.ts';

const OF_3_2 = [
  'ALL_COMMITS',
  'ALL_FILES',
  'ALL_REVISIONS',
  'CHANGE_ACTIONS',
  'CHECK',
  'COMMIT_FOOTERS',
  'CURRENT_ACTIONS',
  'CURRENT_COMMIT',
  'CURRENT_FILES',
  'CURRENT_REVISION',
  'DETAILED_ACCOUNTS',
  'DETAILED_LABELS',
  'DOWNLOAD_COMMANDS',
  'LABELS',
  'MESSAGES',
  'NON_VISIBLE_CHANGES',
  'PUSH_CERTIFICATES',
  'REVIEWED',
  'REVIEWER_UPDATES',
  'SKIP_DIFFSTAT',
  'SKIP_MERGEABLE',
  'SUBMITTABLE',
  'TRACKING_IDS',
  'WEB_LINKS',
];

const SINCE_3_5 = ['SUBMIT_REQUIREMENTS', 'CUSTOM_KEYED_VALUES', 'STAR', 'PARENTS'];

/** @throws RestRefused 400 that names the option */
export function changeOptions(version: GerritWorld['version'], asked: readonly string[]): Set<string> {
  const known = new Set([...OF_3_2, ...(version === '3.2' ? [] : SINCE_3_5)]);
  const unknown = asked.find(each => !known.has(each));
  if (unknown !== undefined) throw new RestRefused(400, `"${unknown}" is not a valid value for "-o"`);
  return new Set(asked);
}
