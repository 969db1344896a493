/** One word of a command to Gerrit, with any characters. Pure. */

/** Gerrit splits a command at blanks, and takes what stands between single quotes as it is. */
export function sshWord(text: string): string {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text;
  // A quote itself stands between the quoted parts, behind a backslash.
  return `'${text.replaceAll("'", "'\\''")}'`;
}
