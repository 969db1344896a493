/** Word, mark and colour of an item's state. */

import type { LiveItem } from '../../api/live-item.ts';
import type { Colour } from '../../lib/ansi.ts';
import { rowOfState, type StateRole } from '../../model/item-states.ts';

/** What `status` and `why` show of an item's state. */
export interface StateStyle {
  readonly mark: string;
  /** At most 16 columns. */
  readonly word: string;
  readonly colour: readonly Colour[];
}

const COLOURS: { readonly [role in StateRole]: Colour } = {
  idle: 'dim',
  wait: 'yellow',
  prepare: 'yellow',
  run: 'cyan',
  ahead: 'green',
  report: 'green',
  trouble: 'red',
};

/** A failing item keeps the word of its state, with a mark and a colour of its own. */
export function itemState({ state, failing }: LiveItem): StateStyle {
  const { word, mark, role } = rowOfState(state.name);
  return failing.length > 0 ? { mark: '✗', word, colour: ['red'] } : { mark, word, colour: [COLOURS[role]] };
}
