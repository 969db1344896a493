/**
 * Which lines are dropped before they are parsed: refs that Gerrit keeps for itself (half of all lines), and events of projects that no
 * tenant has. Pure.
 *
 * Safe without a parser, because a quote inside a JSON text is always written `\"`: `"refName":"refs/changes/` can only be a member of
 * that name. A line that is written in another way (blanks, escapes) is not recognised, and parsed.
 */

const OWN_REF = /"refName":"refs\/(?!heads\/|tags\/)/;
const PROJECT = /"project(?:Name)?":"([^"\\]*)"/g;

/** @param isWatched whether any tenant has the project. */
export function isDroppedUnparsed(line: string, isWatched: (project: string) => boolean): boolean {
  if (line.includes('"refUpdate":{') && OWN_REF.test(line)) return true;
  let isForeign = false;
  for (const [, project = ''] of line.matchAll(PROJECT)) {
    if (isWatched(project)) return false;
    isForeign = true;
  }
  return isForeign;
}
