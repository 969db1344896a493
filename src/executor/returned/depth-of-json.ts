const OPENING = new Set(['{', '[']);
const CLOSING = new Set(['}', ']']);

/** How deep lists and objects of a text of JSON are nested, without recursion: parsers and what reads their values may not be. */
export function depthOfJson(text: string): number {
  let depth = 0;
  let deepest = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at);
    if (quoted) {
      if (char === '\\') at++;
      else if (char === '"') quoted = false;
    } else if (char === '"') quoted = true;
    else if (OPENING.has(char)) deepest = Math.max(deepest, ++depth);
    else if (CLOSING.has(char)) depth--;
  }
  return deepest;
}
