/** Labels that keep a change from being submitted: by its submit records, and where those judge no label, by the labels themselves. */
import type { LabelFact, SubmitRecord } from '../facts.ts';
import { approvalText } from '../language/approval-requirement.ts';
import { voteText } from '../language/vote-value.ts';
import type { SubmitCase } from './submit-case.ts';

/** Labels, and sentences of rules, in one sentence. */
const MOST_NAMED = 5;

/** @returns which votes are missing or block; undefined: none. */
export function missingVotes(asked: SubmitCase): string | undefined {
  const { submitRecords, labels } = asked.facts;
  const unmet = (submitRecords ?? []).filter(({ status }) => status === 'NOT_READY');
  const judged = (submitRecords ?? []).some(record => record.labels.length > 0 || record.status === 'OK');
  const missing = judged
    ? unmet.flatMap(record => record.labels.flatMap(each => lack(each.label, each.status, asked) ?? []))
    : labels.flatMap(({ name, state }) => lack(name, OF_STATE[state], asked) ?? []);
  const named = [...new Set(missing)];
  return named.length === 0
    ? undefined
    : `${asked.place} requires the vote${named.length === 1 ? '' : 's'} ${several(named)}`;
}

/** A rule that Gerrit could not judge, with its error; undefined: none. */
export function brokenRule({ place, facts: { submitRecords } }: SubmitCase): string | undefined {
  const broken = submitRecords?.find(({ status }) => status === 'RULE_ERROR');
  return (
    broken && `Gerrit cannot judge the submit rules of ${place}: ${broken.error ?? 'it gives no reason'}`
  );
}

/** What rules demand that is no label, e.g. those of a plug-in; undefined: nothing. */
export function unmetRules({ place, facts: { submitRecords } }: SubmitCase): string | undefined {
  const unmet = (submitRecords ?? [])
    .filter(({ status }) => status === 'NOT_READY')
    .flatMap(({ requirements }) => requirements);
  return unmet.length === 0 ? undefined : `${place} requires ${several(unmet)}`;
}

type LabelStatus = SubmitRecord['labels'][number]['status'];

const OF_STATE: { readonly [state in LabelFact['state']]: LabelStatus } = {
  met: 'OK',
  rejected: 'REJECT',
  needed: 'NEED',
  optional: 'MAY',
};

/** `Code-Review +2 (missing)` */
function lack(name: string, status: LabelStatus, asked: SubmitCase): string | undefined {
  if (status === 'OK' || status === 'MAY') return undefined;
  const max = asked.facts.labels.find(label => label.name === name)?.max ?? null;
  const wanted = max === null ? name : voteText(name, max);
  if (status === 'IMPOSSIBLE') return `${wanted} (which no account may give)`;
  const isEnough = ({ label, value }: { readonly label: string; readonly value: number }) =>
    label === name && (max === null || value >= max);
  // A vote that blocks may be an earlier one of ours, and ours takes its place.
  if (asked.votes.some(isEnough)) return undefined;
  if (asked.denied.some(isEnough)) return `${wanted} (which the account may not give on ${asked.project})`;
  const ours = asked.votes.find(({ label }) => label === name);
  if (ours !== undefined) return `${wanted} (the pipeline votes ${voteText(name, ours.value)})`;
  const blocking = asked.facts.approvals.filter(({ label, value }) => label === name && value < 0);
  if (status === 'REJECT' && blocking.length > 0)
    return `${wanted} (blocked by ${several(blocking.map(approvalText))})`;
  return `${wanted} (${status === 'REJECT' ? 'blocked' : 'missing'})`;
}

function several(texts: readonly string[]): string {
  const more = texts.length > MOST_NAMED ? ` and ${texts.length - MOST_NAMED} more` : '';
  return `${texts.slice(0, MOST_NAMED).join(', ')}${more}`;
}
