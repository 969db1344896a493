/**
 * Bounds how many coprocesses live at a time, over all repositories: at a start that reads the configuration of thousands of
 * projects there would be thousands otherwise. Beyond the bound the one whose last question is longest ago, and that has none
 * open, ends; it begins again with its next question. Busy ones are never ended, so the bound may be exceeded while
 * more than that many are busy.
 */
export interface CoprocessBudget {
  /** `member` has just been asked something; it may be told to end later. */
  used(member: BudgetMember): void;
  /** `member` has no process any more. */
  ended(member: BudgetMember): void;
}

export interface BudgetMember {
  /** Ends the process if nothing is open; says whether it did. */
  endIfIdle(): boolean;
}

export function createCoprocessBudget(most: number): CoprocessBudget {
  // In order of their last use.
  const alive = new Set<BudgetMember>();
  return {
    used(member) {
      alive.delete(member);
      if (alive.size >= most) {
        const ended = [...alive].find(each => each.endIfIdle());
        if (ended !== undefined) alive.delete(ended);
      }
      alive.add(member);
    },
    ended: member => void alive.delete(member),
  };
}
