/**
 * A place in a text written by users (a settings file, a configuration file), for errors that name it.
 *
 * Lines and columns start at 1. `line: 0` means the place has no line: a whole file, or an environment variable, whose
 * `file` then reads `$OTEL_SERVICE_NAME`.
 */
export interface TextPosition {
  readonly file: string;
  readonly line: number;
  readonly column?: number;
}

/** `etc/gatehouse.conf:12`, `zuul.d/jobs.yaml:12:5`, or just the file when there is no line. */
export function showPosition(at: TextPosition): string {
  if (at.line === 0) return at.file;
  return at.column === undefined ? `${at.file}:${at.line}` : `${at.file}:${at.line}:${at.column}`;
}
