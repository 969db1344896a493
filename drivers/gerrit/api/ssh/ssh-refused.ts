/** Refusals of commands, in the form that REST gives them. Pure. */
import type { GerritRaw } from '../send.ts';

/** @param text Gerrit's own. */
export function refusedOverSsh(status: number, text: string): Extract<GerritRaw, { kind: 'answered' }> {
  return { kind: 'answered', status, headers: {}, body: text, bytes: Buffer.byteLength(text) };
}

/** By Gerrit's words; the first that fits. */
const STATUSES: readonly (readonly [words: RegExp, status: number])[] = [
  [/^internal server error/i, 500],
  [/no such (?:change|patch set)|^not found/i, 404],
  [/^Applying label|not permitted|permission/i, 403],
  [/^change is |failed to submit|cannot reduce|is not current/i, 409],
];

/**
 * What `gerrit review` complained of.
 *
 *     error: fatal: Applying label "Verified": 2 is restricted
 *     <empty line>
 *     fatal: one or more reviews failed; review output above
 *
 * @param usual status of words that are not known.
 */
export function refusedReview(complaint: string, usual: number): Extract<GerritRaw, { kind: 'answered' }> {
  const said = complaint
    .replace(/^fatal: one or more reviews failed.*$/m, '')
    .trim()
    .replace(/^(?:(?:error|fatal): )+/, '');
  const status = STATUSES.find(([words]) => words.test(said))?.[1] ?? usual;
  return refusedOverSsh(status, said === '' ? 'gerrit review failed without a reason' : said);
}
