/** The history as calls with one plain argument each, so that another thread can serve them. */
import type { History } from './history.ts';

type Methods = Omit<History, 'id'>;

/** Each takes the arguments of the method as a list. */
export type HistoryTable = {
  readonly [Name in keyof Methods]: (argument: Parameters<Methods[Name]>) => ReturnType<Methods[Name]>;
} & {
  readonly id: (argument: []) => string;
};

/** @param history opened in the thread that serves the calls. */
export function historyTable(history: History): HistoryTable {
  return {
    id: () => history.id,
    useFor: given => history.useFor(...given),
    record: given => history.record(...given),
    prune: given => history.prune(...given),
    builds: given => history.builds(...given),
    build: given => history.build(...given),
    buildsets: given => history.buildsets(...given),
    buildset: given => history.buildset(...given),
    item: given => history.item(...given),
    recentItems: given => history.recentItems(...given),
    itemsLeft: given => history.itemsLeft(...given),
    decisions: given => history.decisions(...given),
    expectedDuration: given => history.expectedDuration(...given),
    recentDurations: given => history.recentDurations(...given),
    ping: given => history.ping(...given),
    close: given => history.close(...given),
  };
}
