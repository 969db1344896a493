/** Word, mark and colour of an item's state. */

import type { LiveItem } from '../../api/live-item.ts';
import type { Colour } from '../../lib/ansi.ts';
import { rowOfState, type StateRole } from '../../model/item-states.ts';

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

export function itemState({ state, failing }: LiveItem): StateStyle {
  const { word, mark, role } = rowOfState(state.name);
  return failing.length > 0 ? { mark: '✗', word, colour: ['red'] } : { mark, word, colour: [COLOURS[role]] };
}
