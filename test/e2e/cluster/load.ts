/**
 * Changes that flow: which there are, how each must end, and the people who push them one after the other while others are
 * still in the gate.
 *
 * What becomes of a change depends on its own content alone, so that every run has the same outcome regardless of what happens on the
 * way: a broken one fails its job in any company, and two that add the same file with different contents conflict.
 */
import { PROJECTS } from './layout.ts';
import type { Files } from './repositories.ts';

export interface PlannedChange {
  readonly topic: string;
  readonly project: string;
  readonly files: Files;
  readonly expected: 'SUCCESS' | 'FAILURE' | 'MERGE_CONFLICT';
}

/** `count` changes named `<prefix>01`, …: every ninth broken, the seventh in conflict with the fifth, all others good. */
export function planChanges(count: number, prefix = 'c'): readonly PlannedChange[] {
  return Array.from({ length: count }, (_, index) => {
    const number = index + 1;
    const topic = `${prefix}${String(number).padStart(2, '0')}`;
    const project = PROJECTS[index % PROJECTS.length] ?? PROJECTS[0];
    const own = { [`${topic}.txt`]: `${topic}\n` };
    if (number % 9 === 8)
      return { topic, project, files: { ...own, 'broken.txt': 'yes\n' }, expected: 'FAILURE' };
    const contended = { [`first-${prefix}.txt`]: `${topic}\n` };
    if (number === 5) return { topic, project, files: contended, expected: 'SUCCESS' };
    if (number === 7) return { topic, project, files: contended, expected: 'MERGE_CONFLICT' };
    return { topic, project, files: own, expected: 'SUCCESS' };
  });
}

/** The item's name in the API and in the history. */
export function changeId(change: Pick<PlannedChange, 'topic'>): string {
  return `master/${change.topic}`;
}
