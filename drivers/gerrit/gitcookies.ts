/**
 * The file of cookies that git uses (`http.cookieFile`), as googlesource.com gives it. Pure.
 *
 *     .googlesource.com<TAB>TRUE<TAB>/<TAB>TRUE<TAB>2147483647<TAB>o<TAB>git-ci.example.org=1//0abc
 */

/** @returns `o=git-ci…` of the first line that is for the host; undefined: there is none. */
export function gitCookie(text: string, host: string): string | undefined {
  for (const line of text.split('\n')) {
    const [domain = '', , , , , name, value] = line
      .trim()
      .replace(/^#HttpOnly_/, '')
      .split('\t');
    if (name === undefined || value === undefined || domain.startsWith('#')) continue;
    const suffix = domain.replace(/^\./, '').toLowerCase();
    const isForHost = host === suffix || (domain.startsWith('.') && host.endsWith(`.${suffix}`));
    if (isForHost && /^[\x21-\x7e]+$/.test(`${name}${value}`)) return `${name}=${value}`;
  }
  return undefined;
}
