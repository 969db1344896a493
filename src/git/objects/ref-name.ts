/**
 * Ref names are untrusted: branch names come from pull requests, so a name may look like an option
 * (`--upload-pack=…`), a shell substitution (`$(id)`), a path (`../..`) or a terminal escape.
 *
 * The rules are those of `git check-ref-format`, for full names only (`refs/heads/main`, never `main`): nothing that
 * passes can begin with a dash, hold a control character, a colon (which would split a refspec) or a wildcard. Shell
 * characters such as `$`, `;` and quotes are legal in git and pass: no shell ever sees them.
 *
 *     refNameProblem('refs/heads/fix;rm')        → undefined (a good name)
 *     refNameProblem('--upload-pack=touch /tmp') → 'does not begin with "refs/"'
 */
declare const brand: unique symbol;

/** A full ref name that git would accept, e.g. `refs/heads/main` or `refs/pull/7/head`. */
export type RefName = string & { readonly [brand]: 'RefName' };

/** Longest name we handle, in UTF-8 bytes; git itself fails near 4096 for lack of path length. */
const MAX_BYTES = 1024;

/** Why `text` is not a full ref name, or undefined when it is one. */
export function refNameProblem(text: string): string | undefined {
  if (!text.startsWith('refs/')) return 'does not begin with "refs/"';
  if (Buffer.byteLength(text) > MAX_BYTES) return `is longer than ${MAX_BYTES} bytes`;
  if (!text.isWellFormed()) return 'is not well-formed text';
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  if (/[\u0000-\u0020\u007f]/.test(text)) return 'holds a blank or a control character';
  if (/[~^:?*[\\]/.test(text)) return 'holds one of ~ ^ : ? * [ \\';
  if (text.includes('..')) return 'holds ".."';
  if (text.includes('@{')) return 'holds "@{"';
  if (text.endsWith('.')) return 'ends with a dot';
  return text.split('/').map(componentProblem).find(Boolean);
}

function componentProblem(component: string): string | undefined {
  if (component === '') return 'has an empty part (a doubled or trailing slash)';
  if (component.startsWith('.')) return 'has a part that begins with a dot';
  if (component.endsWith('.lock')) return 'has a part that ends with ".lock"';
  return undefined;
}

/** For names that are left out when git would refuse them; {@link refNameProblem} has the reason. */
export function isRefName(text: string): text is RefName {
  return refNameProblem(text) === undefined;
}

/** @throws RangeError with the reason when `text` is not a full ref name. */
export function parseRefName(text: string): RefName {
  const problem = refNameProblem(text);
  if (problem !== undefined)
    throw new RangeError(`ref name ${JSON.stringify(text.slice(0, 200))} ${problem}`);
  return text as RefName;
}
