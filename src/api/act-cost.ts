/** What a request of an operator would do: the answer of `POST …/<request>/dry-run`. */
import { type ActCost, ITEM_EFFECTS, type ItemEffect } from '../model/act-cost.ts';
import { type Document, document, list, number, oneOf, text, uuid, whole } from './schema.ts';

/** Items that are listed; `counts` counts all. */
const MOST_ITEMS = 100;

/** For the OpenAPI description. */
export const actCostSchema = document({
  text: text('What it does, a clause: `resets 11 items and throws away 43 machine minutes`'),
  counts: document({
    reset: whole('Items that are tested again'),
    left: whole('Items that leave'),
    rerun: whole('Items of which failed jobs run again'),
    paused: whole('Items whose jobs wait'),
    resumed: whole('Items whose jobs need not wait any more'),
  }),
  machine_seconds: number('Time that executors spent on builds whose results are thrown away'),
  jobs: list(text(), 'Those that run again in an item that is not tested again as a whole'),
  refusals: list(text(), 'Why nothing, or not all of it, would happen'),
  items: list(
    document({
      uuid: uuid(),
      pipeline: text(),
      change: text('Changes of the item, for people'),
      effect: oneOf(ITEM_EFFECTS),
      machine_seconds: number(),
    }),
    `In the order of the queues; at most ${MOST_ITEMS}`,
  ),
});
/** Read by the page and the command line. */
export type ActCostDocument = Document<typeof actCostSchema>;

/** The document, with the sentence that page and command line show. */
export function actCostDocument(cost: ActCost): ActCostDocument {
  const counts = countsOf(cost);
  const machineMs = cost.items.reduce((sum, item) => sum + item.machineMs, 0);
  return {
    text: clause(counts, cost.jobs, machineMs),
    counts,
    machine_seconds: machineMs / 1000,
    jobs: cost.jobs,
    refusals: cost.refusals,
    items: cost.items.slice(0, MOST_ITEMS).map(({ item, pipeline, change, effect, machineMs: ms }) => ({
      ...{ uuid: item, pipeline, change, effect },
      machine_seconds: ms / 1000,
    })),
  };
}

type Counts = { readonly [Effect in ItemEffect]: number };

function countsOf({ items }: ActCost): Counts {
  const count = (effect: ItemEffect) => items.filter(item => item.effect === effect).length;
  return {
    reset: count('reset'),
    left: count('left'),
    rerun: count('rerun'),
    paused: count('paused'),
    resumed: count('resumed'),
  };
}

function clause({ reset, left, paused, resumed }: Counts, jobs: ActCost['jobs'], machineMs: number): string {
  const parts = [
    left > 0 ? `takes out ${counted(left, 'item')}` : '',
    jobs.length > 0 ? `runs ${jobs.length > 3 ? counted(jobs.length, 'job') : jobs.join(', ')} again` : '',
    reset > 0 ? `resets ${counted(reset, 'item')}` : '',
    paused > 0 ? `keeps jobs of ${counted(paused, 'item')} waiting` : '',
    resumed > 0 ? `lets jobs of ${counted(resumed, 'item')} start` : '',
    machineMs >= 1000 ? `throws away ${machineTime(machineMs)}` : '',
  ].filter(part => part !== '');
  const last = parts.pop();
  if (last === undefined) return 'resets nothing';
  return parts.length === 0 ? last : `${parts.join(', ')} and ${last}`;
}

function machineTime(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  return minutes === 0
    ? counted(Math.round(ms / 1000), 'machine second')
    : counted(minutes, 'machine minute');
}

function counted(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`;
}
