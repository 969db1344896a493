/**
 * Every item that left reports its whole time, regardless of processes that died meanwhile: its states and what it waited for sum to its life, and each
 * scheduler that went on with its pipeline is named.
 */

import { explainItem } from '../../../src/explain/explain.ts';
import { sum } from '../../../src/lib/time-window.ts';
import { isOwnGap } from '../../../src/model/item-states.ts';
import type { QueueItem } from '../../../src/model/queue-item.ts';
import type { Check, Complain } from './check.ts';
import type { PipelineHistory } from './pipeline-history.ts';

export class ReportedTimes implements Check {
  readonly #history: PipelineHistory;
  readonly #complain: Complain;
  readonly #reached: (name: string) => void;

  constructor(history: PipelineHistory, complain: Complain, reached: (name: string) => void) {
    this.#history = history;
    this.#complain = complain;
    this.#reached = reached;
  }

  finished(): void {
    for (const item of this.#history.left.values()) {
      this.#checkSums(item);
      const named = (item.takeovers?.length ?? 0) + (item.moreTakeovers?.count ?? 0);
      const seen = this.#history.takeovers.get(item.uuid) ?? 0;
      if (named < seen)
        this.#complain('times', `item ${item.uuid} names ${named} of ${seen} schedulers that took over`);
    }
  }

  #checkSums(item: QueueItem): void {
    if (item.phase.phase !== 'left') return;
    const explained = explainItem(item, item.phase.at);
    for (const { state } of explained.totals) if (isOwnGap(state)) this.#reached(`waited: ${state}`);
    for (const part of ['stretches', 'totals', 'criticalPath'] as const) {
      const total = sum(explained[part].map(({ duration }) => duration));
      if (total !== explained.duration)
        this.#complain('times', `${part} of item ${item.uuid} sum to ${total} of ${explained.duration} ns`);
    }
  }
}
