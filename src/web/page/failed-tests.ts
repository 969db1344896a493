/** The tests of a build that failed, and how often each did lately. */
import type { TestsDocument } from '../../api/tests.ts';
import { type Child, element } from './dom.ts';
import { count } from './format.ts';

/** Lists the first of them. */
export function failedTests({ failures, totals }: Pick<TestsDocument, 'failures' | 'totals'>): Child {
  if (failures.length === 0) return false;
  const row = ({ suite, name, message, judged }: TestsDocument['failures'][number]) =>
    element(
      'li',
      {},
      `${suite}: ${name}`,
      element('span', { class: 'quiet' }, ` ${judged}`),
      message !== '' && element('div', { class: 'quiet' }, message),
    );
  return element(
    'details',
    { open: failures.length <= 12 },
    element('summary', {}, `${count(totals.failed, 'test')} failed`),
    element('ul', { class: 'meta', 'aria-label': 'Failed tests' }, failures.map(row)),
  );
}
