/**
 * The lines of a build's log. Each begins with the time it ended, and with its writer:
 *
 *     2026-11-20 17:53:01.123456 | make: Entering directory '/build/src/example.org/app'      the job's output
 *     2026-11-20 17:53:04.567890 # RUN END: [untrusted : app/ci/test.sh@main]: passed         the executor
 *
 * All output of a job comes behind its own `|`, line by line; so a job cannot write a line of the executor's. Logs of releases up to
 * 0.3 have `|` everywhere.
 */
export type LogWriter = 'job' | 'executor';

const SEPARATORS: { readonly [writer in LogWriter]: string } = { job: '|', executor: '#' };

const STAMP = /^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}) ([|#]) /;

/** `2026-11-20 17:53:01.123456 | `, in UTC. */
export function logStamp(time: Date, writer: LogWriter): string {
  return `${time.toISOString().replace('T', ' ').replace('Z', '000')} ${SEPARATORS[writer]} `;
}

/** One line of a log, taken apart for the log page and for `gatehouse log`. */
export interface LogLine {
  /** Null: the line has no stamp, so it continues one that was cut. */
  readonly time: string | null;
  readonly writer: LogWriter;
  /** Behind the stamp. */
  readonly text: string;
}

/** @param line without its newline. */
export function parseLogLine(line: string): LogLine {
  const found = STAMP.exec(line);
  if (found === null) return { time: null, writer: 'job', text: line };
  const [stamp, time = '', separator] = found;
  return {
    time,
    writer: separator === SEPARATORS.executor ? 'executor' : 'job',
    text: line.slice(stamp.length),
  };
}
