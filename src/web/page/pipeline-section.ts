/** A pipeline on the board: its head, and its queues with what is in them. Elements that stay are not taken out of the page. */
import type { LivePipeline } from '../../api/live-view.ts';
import { arrange, type Child, element } from './dom.ts';
import { count } from './format.ts';

type Queue = LivePipeline['queues'][number];

/** How the items of a queue are shown. */
export interface QueueContent {
  /** Classes of the list. */
  readonly look: string;
  readonly items: readonly HTMLElement[];
}

interface QueuePart {
  readonly root: HTMLElement;
  readonly title: HTMLElement;
  readonly list: HTMLElement;
}

/** Drawn again with each state of its pipeline. */
export class PipelineSection {
  readonly root: HTMLElement;
  readonly #queues = new Map<string, QueuePart>();

  constructor({ name, manager }: LivePipeline) {
    this.root = element('section', {
      class: `pipeline is-${manager}`,
      'aria-label': `Pipeline ${name}`,
    });
  }

  /** @param more of its head. @param contentOf a queue of it. */
  draw(pipeline: LivePipeline, more: readonly Child[], contentOf: (queue: Queue) => QueueContent): void {
    const keys = new Set(pipeline.queues.map(({ key }) => key));
    for (const key of this.#queues.keys()) if (!keys.has(key)) this.#queues.delete(key);
    const parts = pipeline.queues.map(queue => this.#part(queue, contentOf(queue)));
    arrange(this.root, [head(pipeline, more), ...parts]);
  }

  #part(queue: Queue, { look, items }: QueueContent): HTMLElement {
    const known = this.#queues.get(queue.key) ?? newPart();
    this.#queues.set(queue.key, known);
    const { root, title, list } = known;
    title.replaceChildren(queue.name, ...(queue.window === 0 ? [] : [window(queue.window)]));
    list.className = look;
    arrange(list, items);
    return root;
  }
}

function newPart(): QueuePart {
  const [title, list] = [element('h3'), element('ol')];
  return { root: element('div', { class: 'queue' }, title, list), title, list };
}

function window(size: number): HTMLElement {
  return element(
    'span',
    { class: 'window', title: 'maximum number of items tested at the same time' },
    `window ${size}`,
  );
}

function head(pipeline: LivePipeline, more: readonly Child[]): HTMLElement {
  const size = pipeline.queues.reduce((sum, queue) => sum + queue.items.length, 0);
  return element(
    'header',
    {},
    element('h2', {}, pipeline.name),
    element('span', { class: 'count' }, count(size, 'item')),
    pipeline.disabled && element('span', { class: 'chip is-bad' }, 'disabled after too many failures'),
    more,
  );
}
