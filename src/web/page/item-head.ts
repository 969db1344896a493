import type { LiveItem } from '../../api/live-item.ts';
import { pages } from './address.ts';
import { type Child, element, externalLink } from './dom.ts';
import { resultKind, resultMark, resultWord } from './format.ts';
import { itemSummary } from './item-card.ts';

/** Title, change and links of an item and, while it is live, its state and jobs. */
export function itemHead(item: LiveItem): readonly Child[] {
  const [change] = item.changes;
  return [
    element('h1', {}, change?.subject ?? change?.name),
    element(
      'p',
      { class: 'meta' },
      item.left !== null && outcome(item.left),
      element(
        'span',
        {},
        `${item.pipeline} · `,
        item.changes.map(shown => externalLink(shown.url, shown.text) ?? shown.text),
      ),
      typeof change?.owner === 'string' && element('span', {}, `by ${change.owner}`),
      item.testedBefore !== null &&
        element(
          'a',
          { href: pages.item(item.tenant, item.testedBefore.item) },
          'tested before, by this item',
        ),
      item.dependsOn.length > 0 && element('span', {}, `needs ${item.dependsOn.join(', ')}`),
      externalLink(item.traceUrl, 'open in the trace viewer'),
      externalLink(item.tracesUrl, 'all its traces'),
    ),
    (item.left === null || item.jobs.length > 0) && itemSummary(item),
  ];
}

function outcome(left: NonNullable<LiveItem['left']>): HTMLElement {
  const kind = resultKind(left.result);
  const why = left.reason === 'reported' ? '' : `: ${left.text}`;
  return element(
    'span',
    { class: `chip is-${kind}` },
    `${resultMark(kind)} ${resultWord(left.result)}${why}`,
  );
}
