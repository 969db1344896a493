/** One item of a queue, and the summary that the item's own page shows. */
import type { LiveItem } from '../../api/live-item.ts';
import type { LiveJob } from '../../api/live-job.ts';
import { rowOfState } from '../../model/item-states.ts';
import { pages } from './address.ts';
import { type Child, element, externalLink } from './dom.ts';
import { clock, duration, itemTitle, resultMark, resultWord } from './format.ts';
import { jobKind, jobWord } from './job-kind.ts';

/** A line of a queue. Its clocks are empty until `tick` of ticking.ts fills them. @param forecast see forecast-line.ts. @param acts see act-dialog.ts. */
export function itemCard(item: LiveItem, forecast: HTMLElement, acts: Child): HTMLElement {
  const failing = item.failing.length > 0;
  return element(
    'li',
    { class: `item ${failing ? 'is-failing' : ''} ${item.active ? '' : 'is-idle'}`, 'data-item': item.uuid },
    element('span', {
      class: `stop is-${failing ? 'bad' : rowOfState(item.state.name).role}`,
      'aria-hidden': 'true',
    }),
    itemArticle(item, forecast, acts),
  );
}

/** What a line opens, as the card without its stop. */
export function itemArticle(item: LiveItem, forecast: HTMLElement, acts: Child): HTMLElement {
  const [change] = item.changes;
  return element(
    'article',
    { class: 'card' },
    element(
      'header',
      {},
      element(
        'h4',
        {},
        element(
          'a',
          {
            id: `link-${item.uuid}`,
            class: 'title',
            'data-route': true,
            href: pages.item(item.tenant, item.uuid),
          },
          itemTitle(item),
        ),
      ),
      element('span', {
        class: 'age',
        title: `in the pipeline since ${clock(item.enqueuedAt)}`,
        'data-since': item.enqueuedAt,
      }),
    ),
    element(
      'p',
      { class: 'change' },
      item.changes.map(shown => element('span', {}, shown.text)),
      typeof change?.owner === 'string' && element('span', { class: 'owner' }, `by ${change.owner}`),
      element('span', { class: 'owner' }, externalLink(item.traceUrl, 'trace')),
    ),
    stateLine(item),
    forecast,
    item.hostWait !== null && hostNotice(item.hostWait),
    resetBadge(item),
    jobList(item),
    acts,
  );
}

/** Only state, forecast and jobs: the item's page shows the rest elsewhere. */
export function itemSummary(item: LiveItem, forecast: HTMLElement): HTMLElement {
  return element(
    'article',
    { class: `card ${item.failing.length > 0 ? 'is-failing' : ''}` },
    item.left === null && stateLine(item),
    item.left === null && forecast,
    item.left === null && item.hostWait !== null && hostNotice(item.hostWait),
    jobList(item),
  );
}

function jobList(item: LiveItem): HTMLElement | null {
  if (item.jobs.length === 0) return null;
  return element(
    'ul',
    { class: 'jobs', 'aria-label': 'Jobs' },
    item.jobs.map(job => jobRow(item, job)),
  );
}

function stateLine(item: LiveItem): HTMLElement {
  const { name, since, subject } = item.state;
  return element(
    'p',
    { class: 'state' },
    element(
      'span',
      { class: `chip is-${rowOfState(name).role}`, title: rowOfState(name).now(subject) },
      element('i', { class: 'dot', 'aria-hidden': 'true' }),
      rowOfState(name).word,
      ' ',
      element('b', { 'data-since': since }),
    ),
    subject !== null && element('span', { class: 'subject' }, subject),
    item.failing.map(reason => element('span', { class: 'chip is-bad' }, `failing: ${reason}`)),
  );
}

function hostNotice({ project, text, since, tries }: NonNullable<LiveItem['hostWait']>): HTMLElement {
  const count = tries === 1 ? 'one try' : `${tries} tries`;
  return element(
    'p',
    { class: 'trouble', title: `failing since ${clock(since)}` },
    element('span', { 'aria-hidden': 'true' }, '!'),
    element('span', {}, `the code host of ${project} is failing, ${count} so far: ${text}`),
  );
}

function resetBadge(item: LiveItem): HTMLElement | null {
  const last = item.resets.at(-1);
  if (last === undefined) return null;
  const lost = item.resets.reduce((sum, reset) => sum + reset.lostMs, 0);
  const again = item.resets.length === 1 ? 'tested again' : `tested again ${item.resets.length}×, last`;
  return element(
    'p',
    { class: 'reset', title: `${clock(last.at)}: ${last.text}` },
    element('span', { 'aria-hidden': 'true' }, '↻'),
    element('span', {}, `${again}: ${last.brief}`, lost > 0 && ` · ${duration(lost)} of build time lost`),
  );
}

function jobRow(item: LiveItem, job: LiveJob): HTMLElement {
  const kind = jobKind(job);
  const mark = kind === 'run' ? '▸' : kind === 'wait' ? '·' : resultMark(kind);
  const content = [
    element('span', { class: 'mark', 'aria-hidden': 'true' }, mark),
    element(
      'span',
      { class: 'name' },
      job.name,
      !job.voting && element('em', { title: 'its result does not count' }, ' non-voting'),
    ),
    element(
      'span',
      { class: 'when' },
      job.attempt > 1 &&
        element(
          'span',
          { class: 'attempt', title: `attempt ${job.attempt} of ${job.attempts}` },
          `↻${job.attempt} `,
        ),
      when(job),
    ),
    element('span', { class: 'track', 'aria-hidden': 'true' }, bar(job)),
  ];
  const title = [`${job.name}: ${jobWord(job)}`, job.detail, job.voting ? null : 'non-voting']
    .filter(Boolean)
    .join(' · ');
  return element(
    'li',
    { class: `job is-${kind} ${job.voting ? '' : 'is-advisory'}` },
    job.build !== null && job.startedAt !== null
      ? element(
          'a',
          { id: `link-${job.build}`, 'data-route': true, href: pages.build(item.tenant, job.build), title },
          content,
        )
      : element('span', { title }, content),
  );
}

function when(job: LiveJob): Child {
  if (job.result === 'PAUSED') return 'paused';
  if (job.state === 'started') return element('span', { 'data-since': job.startedAt });
  if (job.startedAt !== null && job.endedAt !== null) return duration(job.endedAt - job.startedAt);
  return job.waitingFor === null
    ? job.result === null
      ? ''
      : resultWord(job.result)
    : job.waitingFor === 'executor'
      ? 'queued'
      : 'waits';
}

function bar(job: LiveJob): HTMLElement {
  if (job.state !== 'started' || job.result === 'PAUSED') return element('span', { class: 'bar' });
  return element('span', {
    class: `bar ${job.expectedMs === null ? 'is-unknown' : ''}`,
    'data-from': job.startedAt,
    'data-expected': job.expectedMs,
  });
}
