/** Tables of lists, and what several of them show alike. */
import type { JobStatisticsDocument } from '../../api/job-statistics.ts';
import { type Child, element } from './dom.ts';
import { duration, percent, resultKind, resultMark, resultWord } from './format.ts';

/** A row for each list of cells; a cell below a heading that ends with `#` is a number. @param name for people who do not see it. */
export function table(
  name: string,
  headings: readonly string[],
  rows: readonly (readonly Child[])[],
): HTMLElement {
  const isNumber = (index: number) => headings[index]?.endsWith('#') === true;
  return element(
    'div',
    { class: 'panel scroll', tabindex: 0, role: 'group', 'aria-label': name },
    element(
      'table',
      { class: 'list' },
      element(
        'thead',
        {},
        element(
          'tr',
          {},
          headings.map((heading, index) =>
            heading === ''
              ? element('td')
              : element(
                  'th',
                  { scope: 'col', class: isNumber(index) ? 'number' : null },
                  heading.replace('#', ''),
                ),
          ),
        ),
      ),
      element(
        'tbody',
        {},
        rows.map(cells =>
          element(
            'tr',
            {},
            cells.map((cell, index) =>
              element(
                'td',
                isNumber(index) ? { class: 'number', 'data-head': headings[index]?.replace('#', '') } : {},
                cell,
              ),
            ),
          ),
        ),
      ),
    ),
  );
}

/** `✓ passed`. */
export function resultChip(result: string | null): HTMLElement {
  const kind = resultKind(result);
  return element('span', { class: `chip is-${kind}` }, `${resultMark(kind)} ${resultWord(result ?? 'none')}`);
}

/** Headings of {@link numberCells}. */
export const NUMBER_HEADINGS = ['Builds#', 'Passed#', '', 'Flaky#', 'P50#', 'P95#'];

/** Builds, share of those that passed, the same as a bar, flaky ones, and durations. */
export function numberCells({
  builds,
  passed,
  failed,
  flaky,
  p50_ms,
  p95_ms,
}: JobStatisticsDocument['total']): readonly Child[] {
  const judged = passed + failed;
  const bar = element('span', { class: 'pass-bar', 'aria-hidden': 'true' }, element('i', {}));
  const [filled] = bar.children;
  if (filled instanceof HTMLElement) filled.style.width = `${judged === 0 ? 0 : (100 * passed) / judged}%`;
  return [
    builds,
    judged === 0 ? '–' : percent(passed / judged),
    judged > 0 && bar,
    flaky === 0 ? '–' : element('span', { class: 'warn' }, `${flaky} of ${judged}`),
    p50_ms === null ? '–' : duration(p50_ms),
    p95_ms === null ? '–' : duration(p95_ms),
  ];
}
