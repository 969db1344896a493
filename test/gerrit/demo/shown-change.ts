import { toWidth } from '../../../src/lib/text-width.ts';

/** What the end of the demo shows of a change at Gerrit. */
interface ShownChange {
  readonly project: string;
  readonly number: number;
  /** Gerrit's word. */
  readonly status: string;
  readonly votes: readonly { readonly label: string; readonly value: number; readonly by: string }[];
}

const STATUS: { readonly [status: string]: string } = {
  NEW: '✗ open',
  MERGED: '✓ merged',
  ABANDONED: '– abandoned',
};

/** One line: project and number, status, votes. */
export function shownChange({ project, number, status, votes }: ShownChange): string {
  const given = votes.map(({ label, value, by }) => `${label} ${value > 0 ? '+' : ''}${value} by ${by}`);
  return `  ${toWidth(`${project} ${number}`, 12)} ${toWidth(STATUS[status] ?? status, 11)} ${given.toSorted().join(', ')}`;
}
