/** Shared by all readers of one file: where problems go, and how much its regular expressions and hints may cost. */
import type { HintBudget } from '../../lib/nearest-name.ts';
import { compileRegex, type InvalidRegex, type Regex } from '../../lib/regex.ts';
import type { YamlProblem } from '../yaml/yaml-tree.ts';

/** Compiles expressions of one file until they cost too much; then each further one is invalid, with the reason. */
export interface RegexBudget {
  /** As `compileRegex`, until the budget of the file is spent. */
  compile(source: string): Regex | InvalidRegex;
}

/** One per file; while a stanza is read, `problem` is that of the stanza. */
export interface ParseContext {
  /** In a stanza, all but a warning breaks the stanza; in the tenant file, any refuses the file. */
  problem(problem: YamlProblem): void;
  /** Takes back that `!override` or `!inherit` at this offset is misplaced. Absent: it is. */
  allowsControl?(offset: number): void;
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
