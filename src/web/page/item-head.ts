import type { LiveItem } from '../../api/live-item.ts';
import { pages } from './address.ts';
import { type Child, element, externalLink } from './dom.ts';
import { count, itemTitle, resultKind, resultMark, resultWord } from './format.ts';
import { itemSummary } from './item-card.ts';

/** Title, change and links of an item and, while it is live, its state and jobs. @param forecast see forecast-line.ts. @param acts see act-dialog.ts. */
export function itemHead(item: LiveItem, forecast: HTMLElement, acts: Child): readonly Child[] {
  const [change] = item.changes;
  const isOne = item.changes.length === 1;
  return [
    element('h1', {}, itemTitle(item)),
    element(
      'p',
      { class: 'meta' },
      item.left !== null && outcome(item.left),
      isOne
        ? element('span', {}, `${item.pipeline} · `, item.changes.map(linkOf))
        : element('span', {}, `${item.pipeline} · ${count(item.changes.length, 'change')}, tested together`),
      isOne && typeof change?.owner === 'string' && element('span', {}, `by ${change.owner}`),
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
    acts,
    item.withheld !== null && withheld(item.withheld),
    !isOne && element('ul', { class: 'changes' }, item.changes.map(changeRow)),
    (item.left === null || item.jobs.length > 0) && itemSummary(item, forecast),
  ];
}

function withheld({ message, parts }: NonNullable<LiveItem['withheld']>): HTMLElement {
  return element(
    'details',
    { class: 'withheld' },
    element('summary', {}, 'Not reported: the tenant is in shadow mode'),
    element(
      'ul',
      {},
      parts.map(({ connection, text }) => element('li', {}, `${connection} ${text}`)),
    ),
    element('pre', {}, message),
  );
}

function linkOf({ url, text }: LiveItem['changes'][number]): Child {
  return externalLink(url, text) ?? text;
}

function changeRow(change: LiveItem['changes'][number]): HTMLElement {
  return element(
    'li',
    {},
    element('code', {}, linkOf(change)),
    element('span', {}, change.subject ?? ''),
    typeof change.owner === 'string' && element('span', { class: 'quiet' }, `by ${change.owner}`),
  );
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
