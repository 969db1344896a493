/**
 * Bounds the number of running coprocesses over all repositories: a start that reads the configuration of thousands of projects
 * would run thousands otherwise. Beyond the bound the least recently used idle coprocess ends, and starts again with its next
 * question. Busy ones are never ended, so more may run while more are busy.
 */
export interface CoprocessBudget {
  /** `member` was asked a question just now; the budget may end it later. */
  used(member: BudgetMember): void;
  /** `member` has no process any more. */
  ended(member: BudgetMember): void;
}

/** One coprocess, as the budget sees it. */
export interface BudgetMember {
  /** Ends the process if no question is open; returns whether it did. */
  endIfIdle(): boolean;
}

/** @param most coprocesses beyond which idle ones are ended. */
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
