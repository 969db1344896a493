/** Texts in columns: how wide they are, cut and filled to a width. Control characters from elsewhere never reach a terminal. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}]/u;
const segments = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Printable, on one line. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '\ufffd');
}

export function widthOf(text: string): number {
  let width = 0;
  for (const { segment } of segments.segment(text)) width += WIDE.test(segment) ? 2 : 1;
  return width;
}

/** Exactly `width` columns: cut with `…` or filled with spaces. */
export function toWidth(text: string, width: number, side: 'left' | 'right' = 'left'): string {
  const fill = width - widthOf(text);
  if (fill >= 0) return side === 'left' ? text + ' '.repeat(fill) : ' '.repeat(fill) + text;
  if (width <= 0) return '';
  let cut = '';
  let used = 1;
  for (const { segment } of segments.segment(text)) {
    const next = WIDE.test(segment) ? 2 : 1;
    if (used + next > width) break;
    cut += segment;
    used += next;
  }
  return `${cut}…${' '.repeat(width - used)}`;
}
