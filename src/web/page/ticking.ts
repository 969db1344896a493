/**
 * Clocks and bars that run between two updates: `data-` attributes say what an element shows, and once a second all of them are
 * redrawn.
 *
 *     data-since="<ms>"                     text: time since then
 *     data-from="<ms>" data-expected="<ms>" width: share of the expected time that has passed
 */
import { elapsed } from './format.ts';

/** Writes only texts that differ. @param now the server's time in milliseconds, not this machine's. */
export function tick(root: Element, now: number): void {
  for (const clock of root.querySelectorAll<HTMLElement>('[data-since]')) {
    const text = elapsed(now - Number(clock.dataset.since));
    if (clock.textContent !== text) clock.textContent = text;
  }
  for (const bar of root.querySelectorAll<HTMLElement>('[data-from]'))
    bar.style.width = `${share(bar.dataset, now) * 100}%`;
}

/** Approaches, but never reaches, 1: the expected time is an estimate. */
function share({ from, expected }: DOMStringMap, now: number): number {
  const over = Math.max(0, now - Number(from));
  if (expected === undefined) return 1;
  const part = over / Number(expected);
  return part <= 0.9 ? part : 1 - 0.1 * Math.exp(-(part - 0.9) * 3);
}
