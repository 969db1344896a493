/** How the board is shown: as cards or in lines, and whose changes come first. The browser remembers both. */
import type { LiveItem } from '../../api/live-item.ts';
import { element, show } from './dom.ts';
import { remember, remembered } from './remembered.ts';

/** Cards show every job by its name; lines have a square for each. */
export type BoardMode = 'cards' | 'lines';

/** Without a choice more items than these are shown in lines. */
const MOST_CARDS = 20;
const MODES: readonly (readonly [BoardMode, string])[] = [
  ['cards', 'Cards'],
  ['lines', 'Lines'],
];

/** Of a board. */
export class BoardChoices {
  readonly root = element('span', { class: 'board-choices' });
  readonly #onChange: () => void;
  #mode: BoardMode | undefined = modeNamed(remembered('board'));
  #mine = remembered('mine') ?? '';
  #owners = '';

  /** @param onChange called when the reader chose. */
  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  /** Undefined until it is chosen or {@link settle} has seen the items. */
  get mode(): BoardMode {
    return this.#mode ?? 'cards';
  }

  /** Whose changes come first; empty: none. */
  get mine(): string {
    return this.#mine;
  }

  /** Before the items are drawn. The number counts once: a board does not change its form because a change enters. */
  settle(items: readonly LiveItem[]): void {
    this.#mode ??= items.length > MOST_CARDS ? 'lines' : 'cards';
    const owners = ownersOf(items, this.#mine);
    const key = `${this.#mode} ${owners.join(' ')}`;
    if (key === this.#owners) return;
    this.#owners = key;
    this.#draw(owners);
  }

  #draw(owners: readonly string[]): void {
    const buttons = MODES.map(([mode, text]) => {
      const made = element(
        'button',
        {
          type: 'button',
          class: 'choice',
          id: `board-${mode}`,
          'aria-pressed': mode === this.#mode ? 'true' : 'false',
        },
        text,
      );
      made.addEventListener('click', () => this.#choose(mode, owners));
      return made;
    });
    show(
      this.root,
      element('span', { role: 'group', 'aria-label': 'Show items as', class: 'choices' }, buttons),
      owners.length > 0 && this.#owner(owners),
    );
  }

  #owner(owners: readonly string[]): HTMLElement {
    const select = element(
      'select',
      { id: 'board-mine', 'aria-label': 'Whose changes come first' },
      element('option', { value: '' }, 'mine: –'),
      owners.map(name => element('option', { value: name, selected: name === this.#mine }, `mine: ${name}`)),
    );
    select.addEventListener('change', () => {
      this.#mine = select.value;
      remember('mine', select.value);
      this.#onChange();
    });
    return select;
  }

  #choose(mode: BoardMode, owners: readonly string[]): void {
    this.#mode = mode;
    remember('board', mode);
    this.#draw(owners);
    this.#onChange();
  }
}

function modeNamed(text: string | undefined): BoardMode | undefined {
  return MODES.find(([mode]) => mode === text)?.[0];
}

/** In order; with the one that is chosen, who may have no change in the queues now. */
function ownersOf(items: readonly LiveItem[], mine: string): readonly string[] {
  const owners = new Set(items.flatMap(({ changes }) => changes.flatMap(({ owner }) => owner ?? [])));
  if (mine !== '') owners.add(mine);
  return [...owners].sort();
}
