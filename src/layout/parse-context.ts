/** Shared by all readers of one file: where problems go, and how much its regular expressions and hints may cost. */
import type { HintBudget } from '../lib/nearest-name.ts';
import { compileRegex, type InvalidRegex, type Regex } from '../lib/regex.ts';
import type { YamlProblem } from './yaml-tree.ts';

export interface RegexBudget {
  /** As `compileRegex`, until the budget of the file is spent. */
  compile(source: string): Regex | InvalidRegex;
}

export interface ParseContext {
  problem(problem: YamlProblem): void;
  readonly regexes: RegexBudget;
  /** For all hints of the file. */
  readonly hints: HintBudget;
}

/** About a second of compiling: 10 000 ordinary expressions, or 20 that repeat something 1000 times. */
const FILE_BUDGET = 600_000;

/** One per file: a file full of costly expressions must not stall the service. */
export function regexBudget(): RegexBudget {
  let left = FILE_BUDGET;
  return {
    compile(source) {
      left -= costOf(source);
      if (left >= 0) return compileRegex(source);
      return {
        kind: 'invalid',
        reason: 'this file has too many or too costly regular expressions; split it',
      };
    },
  };
}

function costOf(source: string): number {
  let cost = 40 + source.length;
  for (const [, least = '0', most = ''] of source.matchAll(/\{(\d+)(?:,(\d*))?\}/g)) {
    cost += 30 * Math.max(Number(least), Number(most));
  }
  return cost;
}
