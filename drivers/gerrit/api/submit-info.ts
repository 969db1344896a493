/**
 * What Gerrit says of submitting a change. Pure.
 *
 *     submit_requirements  since 3.5, when asked for: rules with an expression each
 *     submit_records       what submit rules answered; `requirements` of them are sentences
 *     requirements         before 3.5: those sentences alone
 */
import { isMapping } from '../../../src/driver/read-mapping.ts';
import type { Json } from '../../../src/model/job.ts';
import type { SubmitRecord, SubmitRequirement } from '../facts.ts';
import { choiceOf, type JsonMapping, mappingsOf, textOf, textsOf } from './info-json.ts';

const MOST = 1_000;
const LONGEST_NAME = 200;
const LONGEST_SENTENCE = 400;
/** Characters of an expression that labels are looked for in. */
const LONGEST_EXPRESSION = 10_000;

const REQUIREMENT_STATUSES = [
  'SATISFIED',
  'UNSATISFIED',
  'OVERRIDDEN',
  'NOT_APPLICABLE',
  'ERROR',
  'FORCED',
] as const;

/**
 * @returns null: there are none, as in Gerrit 3.5, which answers `[]` while the functions of its labels decide. A status that is not known
 * counts as `ERROR`.
 */
export function readSubmitRequirements(json: Json | undefined): readonly SubmitRequirement[] | null {
  if (!Array.isArray(json) || json.length === 0) return null;
  return mappingsOf(json, MOST).map(each => {
    const expression = expressionOf(each.submittability_expression_result);
    return {
      name: textOf(each.name, LONGEST_NAME) ?? '',
      status: choiceOf(each.status, REQUIREMENT_STATUSES) ?? 'ERROR',
      labels: labelsOf(expression),
      expression: expression.slice(0, LONGEST_NAME).toWellFormed(),
    };
  });
}

/** Gerrit leaves the expression out where it is not to be shown; its parts say as much. */
function expressionOf(result: Json | undefined): string {
  if (!isMapping(result)) return '';
  const { expression, passing_atoms: passing, failing_atoms: failing } = result;
  const atoms = [passing, failing].flatMap(each => textsOf(each, MOST, LONGEST_SENTENCE));
  return textOf(expression, LONGEST_EXPRESSION) ?? atoms.join(' ').slice(0, LONGEST_EXPRESSION);
}

/** `label:Verified=MAX`, `label:"Code-Review>=1,user=non_uploader"`, `label:Verified+1`, `-label:Lint-1` */
const LABEL = /(?<![\w:])label\d?:\s*["']?([a-z0-9][\w.-]*)(?=([=<>+])?)/gi;

function labelsOf(expression: string): readonly string[] {
  const names = [...expression.matchAll(LABEL)].map(([, name = '', operator]) =>
    operator === undefined ? name.replace(/-\d+$/, '') : name,
  );
  return [...new Set(names)].map(name => name.slice(0, LONGEST_NAME)).slice(0, MOST);
}

const LABEL_STATUSES = ['OK', 'NEED', 'MAY', 'REJECT', 'IMPOSSIBLE'] as const;

/** @param records, requirements members `submit_records` and `requirements` of the change. @returns null: Gerrit did not say. */
export function readSubmitRecords(
  records: Json | undefined,
  requirements: Json | undefined,
): readonly SubmitRecord[] | null {
  if (Array.isArray(records)) return mappingsOf(records, MOST).map(readRecord);
  const open = openSentences(requirements);
  return open.length === 0 ? null : [{ status: 'NOT_READY', labels: [], requirements: open, error: null }];
}

/** A status that is not known counts as `NEED`: something is missing. */
function readRecord(record: JsonMapping): SubmitRecord {
  return {
    status: textOf(record.status, LONGEST_NAME) ?? '',
    labels: mappingsOf(record.labels, MOST).map(each => ({
      label: textOf(each.label, LONGEST_NAME) ?? '',
      status: choiceOf(each.status, LABEL_STATUSES) ?? 'NEED',
    })),
    requirements: openSentences(record.requirements),
    error: textOf(record.error_message, LONGEST_SENTENCE),
  };
}

/** Of requirements that are not met. */
function openSentences(json: Json | undefined): readonly string[] {
  return mappingsOf(json, MOST)
    .filter(each => each.status !== 'OK')
    .flatMap(each => textOf(each.fallback_text ?? each.fallbackText ?? each.type, LONGEST_SENTENCE) ?? []);
}
