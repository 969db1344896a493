/** What the writing thread of a history does, as calls with one plain argument each. */
import type { History } from './history.ts';

type Writing = Pick<History, 'useFor' | 'record' | 'prune' | 'close'>;

/** Each takes the arguments of the method as a list. */
export type HistoryTable = {
  readonly [Name in keyof Writing]: (argument: Parameters<Writing[Name]>) => ReturnType<Writing[Name]>;
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
    close: given => history.close(...given),
  };
}
