/**
 * The keys under which GitHub stores our reports, by which a repetition finds them. Pure.
 *
 *     name          acme/gate                                        of the check run, and context of the status
 *     external id   acme/gate/4f0c…                                  of the check run: this item's
 *     marker        <!-- gatehouse acme/gate -->                     first line of the pipeline's one comment
 */
import type { Report } from '../../../src/model/report.ts';

/** As Zuul names it: branch protection and rulesets require it by this name. */
export function checkNameOf({ place }: Pick<Report, 'place'>): string {
  return `${place.tenant}/${place.pipeline}`;
}

/** Of a refusal, which has no item, one for each commit. */
export function externalIdOf(report: Pick<Report, 'place' | 'item'>): string {
  return `${checkNameOf(report)}/${report.item ?? 'refused'}`;
}

/** Hidden first line of the comment that is edited with each report of the pipeline. */
export function commentMarker(report: Pick<Report, 'place'>): string {
  return `<!-- gatehouse ${hidden(checkNameOf(report))} -->`;
}

/** Hidden second line of a comment, first line of a review: which report it is. */
export function reportMarker(report: Pick<Report, 'place' | 'item' | 'action'>): string {
  return `<!-- gatehouse ${hidden(externalIdOf(report))} ${report.action} -->`;
}

/** Whether the comment holds the end of the same item: a late start must not replace it. */
export function holdsEndOf(report: Pick<Report, 'place' | 'item'>, body: string): boolean {
  const [, second = ''] = body.split('\n', 2);
  const isOfItem = second.startsWith(`<!-- gatehouse ${hidden(externalIdOf(report))} `);
  return isOfItem && !/ (?:start|enqueue) -->\s*$/.test(second);
}

/** Whether the report is about an item that goes on. */
export function isBeginning({ action }: Pick<Report, 'action'>): boolean {
  return action === 'start' || action === 'enqueue';
}

/** Two dashes would end the comment. */
function hidden(text: string): string {
  return text.replaceAll('--', '- -').replaceAll('>', ')');
}
