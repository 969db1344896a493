/** Texts of changes and jobs as Gerrit may store them. Pure. */

/** Without control characters other than newline and tab. */
export function withoutControls(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
  return text.toWellFormed().replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f]/g, ' ');
}
