/**
 * A build's log for a terminal. A job's output reaches the terminal only as text and, if wanted, colours: window titles, links, the
 * clipboard (OSC 52), cursor moves and every other control sequence are dropped. Lines of the executor are marked.
 *
 *     const filter = createLogFilter({ colour: true });
 *     for (const line of filter.lines(bytes)) print(line);
 *     for (const line of filter.end()) print(line);        // one without a newline
 */

import { painter } from '../../lib/ansi.ts';
import { type LogLine, parseLogLine } from '../../lib/log-line.ts';
import { CONTROL_SEQUENCES } from '../../lib/terminal-sequences.ts';

const RESET = '\u001b[0m';

/** A line longer than the executor writes any. */
const LONGEST = 65_536;

/** For one log, in order: a line may come in several pieces. */
export interface LogFilter {
  /** The lines completed by these bytes, without newline. */
  lines(bytes: Uint8Array): readonly string[];
  /** The unterminated rest, at the end of the log. */
  end(): readonly string[];
}

/** How lines are shown. */
export interface LogStyle {
  /** False: the job's colours are dropped as well. */
  readonly colour: boolean;
  /** Of a log of today: the time of day alone, to the second. Absent: as it is in the log. */
  readonly times?: 'clock';
}

/** For a terminal. */
export function createLogFilter({ colour, times }: LogStyle): LogFilter {
  const split = createLineSplitter();
  const show = (line: string) => shownLine(parseLogLine(line), colour, times);
  return {
    lines: bytes => split.lines(bytes).map(show),
    end: () => split.end().map(show),
  };
}

/** The same lines, unfiltered. */
export function createLineSplitter(): { lines(bytes: Uint8Array): string[]; end(): string[] } {
  const decoder = new TextDecoder();
  let rest = '';
  return {
    lines(bytes) {
      const parts = (rest + decoder.decode(bytes, { stream: true })).split('\n');
      rest = parts.pop() ?? '';
      if (rest.length > LONGEST) parts.push(rest);
      if (rest.length > LONGEST) rest = '';
      return parts;
    },
    end() {
      const last = rest + decoder.decode();
      rest = '';
      return last === '' ? [] : [last];
    },
  };
}

/** Of a stamp: `17:53:01` of `2026-11-20 17:53:01.123456`. */
const CLOCK = [11, 19] as const;

function shownLine(
  { time: stamp, writer, text }: LogLine,
  colour: boolean,
  times: LogStyle['times'],
): string {
  const paint = painter(colour);
  if (stamp === null) return safeText(text, colour);
  const time = times === 'clock' ? stamp.slice(...CLOCK) : stamp;
  if (writer === 'executor') return paint(`${time} # ${safeText(text, false)}`, 'cyan');
  return `${paint(time, 'dim')} | ${safeText(text, colour)}`;
}

/** @param colour false: colours are dropped as well. */
function safeText(text: string, colour: boolean): string {
  let painted = false;
  const safe = text.replaceAll(CONTROL_SEQUENCES, (sequence, parameters: string | undefined) => {
    if (!colour || parameters === undefined) return '';
    painted = true;
    return sequence;
  });
  // Colours end with their line: the next one may be the executor's.
  return painted ? `${safe}${RESET}` : safe;
}
