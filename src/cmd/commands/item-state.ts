/** An item's state in a word and a mark. */
import type { Colour } from '../../lib/ansi.ts';
import type { LiveItem } from '../../web/live-item.ts';

export interface StateLook {
  readonly mark: string;
  /** At most 16 columns. */
  readonly word: string;
  readonly colour: readonly Colour[];
}

const WORDS: { readonly [state: string]: string } = {
  window: 'outside window',
  merge: 'merging',
  configure: 'configuring',
  'repo-state': 'reading heads',
  'hold-following': 'held back',
  executor: 'wants executor',
  running: 'running',
  'change-ahead': 'done, waits',
  'needed-change': 'held back',
  host: 'host trouble',
  dependency: 'holds a place',
  reporting: 'reporting',
};

export function stateWord(state: string): string {
  return WORDS[state] ?? state;
}

export function itemState({ state, failing, role }: LiveItem): StateLook {
  const word = stateWord(state.name);
  if (failing.length > 0) return { mark: '✗', word, colour: ['red'] };
  if (role === 'dependency') return { mark: '◌', word, colour: ['dim'] };
  switch (state.name) {
    case 'running':
      return { mark: '●', word, colour: ['cyan'] };
    case 'reporting':
    case 'change-ahead':
      return { mark: '✓', word, colour: ['green'] };
    case 'host':
      return { mark: '!', word, colour: ['red'] };
    case 'window':
      return { mark: '·', word, colour: ['dim'] };
    default:
      return { mark: '○', word, colour: ['yellow'] };
  }
}
