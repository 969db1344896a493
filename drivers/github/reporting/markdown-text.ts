/**
 * Text of others inside our Markdown: shown as it is. It makes no links, no HTML and no table cells, and a name in
 * it notifies no user. Pure.
 */

const ZERO_WIDTH = '\u200b';

/** One line; escapes what GitHub's Markdown would read as more than text. */
export function markdownText(text: string): string {
  return text
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/[\\`*_{}[\]|~#]/g, '\\$&')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('@', `@${ZERO_WIDTH}`);
}

/** A link, or the text alone where the address is none of the web. */
export function markdownLink(text: string, url: string | null): string {
  const shown = markdownText(text);
  if (url === null || !/^https?:\/\//.test(url)) return shown;
  return `[${shown}](${url
    .replaceAll(/[\s()<>]/g, encodeURIComponent)
    .replaceAll('(', '%28')
    .replaceAll(')', '%29')})`;
}
