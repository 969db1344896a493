/**
 * `success: {gerrit: {Verified: 2, submit: true, comment: true, notify: OWNER}}`: every key that is not one of these words is a label
 * with the value that the report gives it.
 *
 * `checks-api` is taken, with a warning, and dropped: Gerrit has given up the plug-in that it was for.
 */
import type { ParseResult } from '../../../src/driver/parse-result.ts';
import { isMapping, parsedBefore, readMapping } from '../../../src/driver/read-mapping.ts';
import { didYouMean } from '../../../src/lib/nearest-name.ts';
import type { Json } from '../../../src/model/job.ts';
import type { LandingMode } from '../../../src/model/landed.ts';
import { isLabelName, readVoteValue } from './vote-value.ts';

/** Whom Gerrit notifies of a report by mail. */
const NOTIFY = ['NONE', 'OWNER', 'OWNER_REVIEWERS', 'ALL'] as const;

const KEYS = ['submit', 'comment', 'notify', 'checks-api'];

/** Keys that are not written do not occur; every other key is a label. */
export type GerritReporterConfig = {
  readonly submit?: boolean;
  readonly comment?: boolean;
  readonly notify?: (typeof NOTIFY)[number];
} & { readonly [label: string]: number | boolean | string };

/** What a report does, with all defaults. */
export interface GerritReporterDeeds {
  /** In the order that they are written. */
  readonly votes: readonly { readonly label: string; readonly value: number }[];
  readonly submit: boolean;
  /** Whether the message is sent; comments on lines are sent in any case. */
  readonly comment: boolean;
  /** Undefined: Gerrit's own default. */
  readonly notify: (typeof NOTIFY)[number] | undefined;
}

/** See `DriverConfigLanguage`; what it returns parses to itself. */
export function parseGerritReporter(value: Json): ParseResult<GerritReporterConfig> {
  const labels = isMapping(value) ? Object.keys(value).filter(key => !KEYS.includes(key)) : [];
  const mapping = readMapping(value, [...KEYS, ...labels], 'a reporter of a Gerrit connection');
  const votes = labels.flatMap(label => {
    const given = isMapping(value) ? value[label] : undefined;
    const read = readVoteValue(given ?? null);
    if (read !== undefined && isLabelName(label)) return [[label, read] as const];
    const text = isLabelName(label)
      ? `the label ${label} in a reporter needs a whole number`
      : `"${label}" is no name of a label`;
    mapping.refuse(
      [label],
      isLabelName(label) ? 'wrong-type' : 'unknown-key',
      `${text}${didYouMean(label, KEYS)}`,
    );
    return [];
  });
  if (isMapping(value) && value['checks-api'] !== undefined)
    mapping.warn(
      ['checks-api'],
      'no-effect',
      '"checks-api" has no effect: Gerrit has given up the checks plug-in; runs are shown in its Checks tab without it',
    );
  const [notify, ...rest] = mapping.choices('notify', NOTIFY);
  if (rest.length > 0)
    mapping.refuse(['notify'], 'wrong-type', `"notify" is one of ${NOTIFY.join(', ')}, not several`);
  const submit = mapping.boolean('submit');
  const comment = mapping.boolean('comment');
  return mapping.result({
    ...Object.fromEntries(votes),
    ...(submit === undefined ? {} : { submit }),
    ...(comment === undefined ? {} : { comment }),
    ...(notify === undefined ? {} : { notify }),
  });
}

/** @throws Error for a config that was not parsed before. */
export function gerritReporterDeeds(config: Json): GerritReporterDeeds {
  const { submit = false, comment = true, notify, ...labels } = parsedBefore(parseGerritReporter(config));
  const votes = Object.entries(labels).flatMap(([label, value]) =>
    typeof value === 'number' ? [{ label, value }] : [],
  );
  return { votes, submit, comment, notify };
}

/** Null: the reporter does not submit. @throws Error for a config that was not parsed before. */
export function gerritLandingMode(config: Json): LandingMode | null {
  return gerritReporterDeeds(config).submit ? 'api' : null;
}
