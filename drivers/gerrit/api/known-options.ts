/**
 * Options of a read (`o=`) that this Gerrit does not know: it refuses the whole request with 400 and names the option. They are left
 * out from then on, and tried again every hour: the server may have been upgraded.
 */

/** For one connection. */
export interface KnownOptions {
  /** `path` without the options that Gerrit does not know. */
  without(path: string): string;
  /** A read was refused. @returns true: an optional option was the reason, and it may be asked again. */
  refused(path: string, status: number, text: string): boolean;
}

/** Newer than the oldest Gerrit that is served. */
const OPTIONAL = ['SUBMIT_REQUIREMENTS'] as const;
const KEPT_MS = 3_600_000;

/** @param monotonic milliseconds. */
export function createKnownOptions(monotonic: () => number): KnownOptions {
  const unknown = new Map<string, number>();
  return {
    without(path) {
      let left = path;
      for (const [option, since] of unknown) {
        if (monotonic() - since > KEPT_MS) unknown.delete(option);
        else
          left = left.replace(pattern(option), lead =>
            lead.startsWith('?') && lead.endsWith('&') ? '?' : '',
          );
      }
      return left;
    },
    refused(path, status, text) {
      const option = OPTIONAL.find(each => text.includes(each) && pattern(each).test(path));
      if (status !== 400 || option === undefined) return false;
      unknown.set(option, monotonic());
      return true;
    },
  };
}

/** `&o=X`, `?o=X`, or `?o=X&` in front of others. */
function pattern(option: string): RegExp {
  return new RegExp(`(?:&o=${option}(?=&|$)|\\?o=${option}(?:&|$))`);
}
