/** An item in one line: its place, its title, a square for each job, how it stands and since when. */
import type { ItemForecast } from '../../api/forecast.ts';
import type { LiveItem } from '../../api/live-item.ts';
import type { LiveJob } from '../../api/live-job.ts';
import { rowOfState } from '../../model/item-states.ts';
import { type Child, element } from './dom.ts';
import { count, elapsed, itemTitle, timesOfDay } from './format.ts';
import { type JobKind, jobKind, jobWord } from './job-kind.ts';

/** Squares of one line; the others are a number. */
const MOST_SQUARES = 40;

interface LineFacts {
  /** In its queue, 1 the head. */
  readonly place: number;
  /** Its details are shown below. */
  readonly isOpen: boolean;
  readonly forecast: ItemForecast | undefined;
  /** The server's time, in milliseconds. */
  readonly now: number;
  /** Makes its id unique in the document. */
  readonly prefix: string;
}

/** A button that opens and closes what is below it. */
export function itemLine(item: LiveItem, { place, isOpen, forecast, now, prefix }: LineFacts): HTMLElement {
  const failing = item.failing.length > 0;
  const row = rowOfState(item.state.name);
  const { subject } = item.state;
  return element(
    'button',
    {
      type: 'button',
      class: 'line-head',
      id: `${prefix}${item.uuid}`,
      'aria-expanded': isOpen ? 'true' : 'false',
    },
    element('span', { class: 'place' }, place),
    element('span', { class: `stop is-${failing ? 'bad' : row.role}`, 'aria-hidden': 'true' }),
    element('span', { class: 'title', title: titleOf(item) }, itemTitle(item)),
    squares(item.jobs),
    element(
      'span',
      {
        class: `word is-${failing ? 'bad' : row.role}`,
        title: failing ? item.failing.join(', ') : row.now(subject),
      },
      failing ? 'failing' : row.word,
    ),
    element('span', { class: 'eta', 'data-eta': item.uuid }, etaText(forecast, now)),
    element('span', { class: 'age', 'data-since': item.enqueuedAt }, elapsed(now - item.enqueuedAt)),
  );
}

/** `~17:53`: when it probably lands or leaves; empty: not known. @param now the server's time in milliseconds. */
export function etaText(forecast: ItemForecast | undefined, now: number): string {
  const expected = forecast?.expected ?? null;
  return expected === null ? '' : `~${timesOfDay([expected.likely], now)[0]}`;
}

function titleOf(item: LiveItem): string {
  return item.changes
    .map(({ text, owner }) => (typeof owner === 'string' ? `${text} by ${owner}` : text))
    .join(' + ');
}

function squares(jobs: readonly LiveJob[]): Child {
  const more = jobs.length - MOST_SQUARES;
  return element(
    'span',
    { class: 'squares', role: 'img', 'aria-label': summaryOf(jobs) },
    jobs.slice(0, MOST_SQUARES).map(job =>
      element('i', {
        class: `square is-${jobKind(job)} ${job.voting ? '' : 'is-advisory'}`,
        title: `${job.name}: ${jobWord(job)}`,
      }),
    ),
    more > 0 && `+${more}`,
  );
}

const SAID: readonly (readonly [JobKind, string])[] = [
  ['run', 'running'],
  ['good', 'passed'],
  ['retry', 'to be tried again'],
  ['wait', 'waiting'],
];

/** Failed jobs by name, the others counted: `unit failed, 3 running, 1 passed`. */
function summaryOf(jobs: readonly LiveJob[]): string {
  if (jobs.length === 0) return 'no jobs yet';
  const failed = jobs.filter(job => jobKind(job) === 'bad').map(({ name }) => `${name} failed`);
  const counts = SAID.flatMap(([kind, word]) => {
    const number = jobs.filter(job => jobKind(job) === kind).length;
    return number === 0 ? [] : [`${number} ${word}`];
  });
  return [...failed.slice(0, 5), ...counts].join(', ') || count(jobs.length, 'job');
}
