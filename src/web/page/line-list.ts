/**
 * The lines of many items. An element for each is cheap; what is in it is drawn when it comes near the part of the page that is seen,
 * and again when its item has changed. So a thousand items cost as much as those on the screen.
 */
import type { LiveItem } from '../../api/live-item.ts';
import { type Child, element, show } from './dom.ts';

/** Milliseconds of drawing in one frame. */
const AT_ONCE_MS = 6;
/** Around the visible part, so that lines are there before they are scrolled to. */
const NEAR = '500px';

interface Line {
  readonly root: HTMLElement;
  item: LiveItem;
  place: number;
  isNear: boolean;
  /** What its content shows; undefined: nothing. */
  drawn: LiveItem | undefined;
}

/** @param place in its queue, 1 the head. */
type Draw = (item: LiveItem, place: number, isOpen: boolean) => Child;

/** Of a board. */
export class LineList {
  readonly #lines = new Map<string, Line>();
  readonly #open = new Set<string>();
  readonly #draw: Draw;
  readonly #due = new Set<Line>();
  #frame: number | undefined;
  readonly #watch = new IntersectionObserver(entries => this.#moved(entries), { rootMargin: NEAR });

  constructor(draw: Draw) {
    this.#draw = draw;
  }

  /** One for each item, in the same order; an item that had one before keeps it. @param first place of the first. */
  linesOf(items: readonly LiveItem[], first = 1): readonly HTMLElement[] {
    return items.map((item, index) => {
      const line = this.#lines.get(item.uuid) ?? this.#begin(item);
      line.item = item;
      this.#place(line, first + index);
      this.#refresh(line);
      return line.root;
    });
  }

  /** Its document has changed. */
  update(item: LiveItem): void {
    const line = this.#lines.get(item.uuid);
    if (line === undefined) return;
    line.item = item;
    this.#refresh(line);
  }

  /** Opens or closes the details of a line. */
  toggle(uuid: string): void {
    if (!this.#open.delete(uuid)) this.#open.add(uuid);
    const line = this.#lines.get(uuid);
    if (line === undefined) return;
    this.#drawNow(line);
  }

  /** Also where it is far from what is seen. @param line an element of this list. */
  focus(line: Element): void {
    const found = this.#lines.get(line instanceof HTMLElement ? (line.dataset.item ?? '') : '');
    if (found?.root !== line) return;
    if (found.drawn === undefined) this.#drawNow(found);
    const head = found.root.querySelector<HTMLElement>('.line-head');
    head?.focus({ preventScroll: true });
    head?.scrollIntoView({ block: 'nearest' });
  }

  /** Draws all anew, as far as they are seen. */
  redraw(): void {
    for (const line of this.#lines.values()) {
      line.drawn = undefined;
      this.#refresh(line);
    }
  }

  /** Forgets the items that are gone. @param isThere whether an item still is. */
  prune(isThere: (uuid: string) => boolean): void {
    for (const [uuid, { root }] of this.#lines) {
      if (isThere(uuid)) continue;
      this.#watch.unobserve(root);
      const line = this.#lines.get(uuid);
      if (line !== undefined) this.#due.delete(line);
      this.#lines.delete(uuid);
      this.#open.delete(uuid);
    }
  }

  close(): void {
    this.#watch.disconnect();
    if (this.#frame !== undefined) cancelAnimationFrame(this.#frame);
  }

  #place(line: Line, place: number): void {
    if (line.place === place) return;
    line.place = place;
    const shown = line.root.querySelector('.place');
    if (shown !== null) shown.textContent = String(place);
  }

  #begin(item: LiveItem): Line {
    const root = element('li', { class: 'line', 'data-item': item.uuid });
    const line: Line = { root, item, place: 0, isNear: false, drawn: undefined };
    this.#lines.set(item.uuid, line);
    this.#watch.observe(root);
    return line;
  }

  #moved(entries: readonly IntersectionObserverEntry[]): void {
    for (const { target, isIntersecting } of entries) {
      const line = this.#lines.get(target instanceof HTMLElement ? (target.dataset.item ?? '') : '');
      if (line === undefined) continue;
      line.isNear = isIntersecting;
      this.#refresh(line);
    }
  }

  /** In one of the next frames. */
  #refresh(line: Line): void {
    if (!line.isNear || line.drawn === line.item) return;
    this.#due.add(line);
    this.#frame ??= requestAnimationFrame(() => this.#drawDue());
  }

  #drawDue(): void {
    this.#frame = undefined;
    const begun = performance.now();
    for (const line of this.#due) {
      if (performance.now() - begun > AT_ONCE_MS) break;
      if (line.isNear) this.#drawNow(line);
      else this.#due.delete(line);
    }
    if (this.#due.size > 0) this.#frame = requestAnimationFrame(() => this.#drawDue());
  }

  #drawNow(line: Line): void {
    this.#due.delete(line);
    line.drawn = line.item;
    const isOpen = this.#open.has(line.item.uuid);
    line.root.classList.toggle('is-open', isOpen);
    line.root.classList.toggle('is-idle', !line.item.active);
    show(line.root, this.#draw(line.item, line.place, isOpen));
  }
}
