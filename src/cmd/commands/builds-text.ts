/**
 * Builds as a table: pure.
 *
 *     ✓ SUCCESS  unit-tests          acme/app master/login  gate    3.1s  2026-11-20 17:59  3832c7a4d82fbf2e6cc9850569e5ce9b
 */
import type { BuildDocument as Build } from '../../api/build-schema.ts';
import { type Colour, painter } from '../../lib/ansi.ts';
import { durationText } from '../../lib/duration-text.ts';
import { cutTo, printable, toWidth, widthOf } from '../../lib/text-width.ts';
import type { TerminalStyle } from '../terminal/style.ts';

const UUID_WIDTH = 32;
/** `2026-11-20 17:59` */
const TIME_WIDTH = 16;
const TOOK_WIDTH = 8;
/** Narrower tables leave out the time … */
const WIDE = 110;
/** … and then the duration, and cut results to this. */
const MEDIUM = 80;
const MOST_OF_A_RESULT = 8;
const MOST_OF_A_JOB = 30;

/** A line for each build, none wider than the style. */
export function buildLines(builds: readonly Build[], { width, colour }: TerminalStyle): readonly string[] {
  const paint = painter(colour);
  const rows = builds.map(build => ({
    build,
    result: build.result ?? 'running',
    job: printable(build.job_name),
  }));
  const widest = (texts: readonly string[]) => Math.max(0, ...texts.map(widthOf));
  const [medium, wide] = [width >= MEDIUM, width >= WIDE];
  const ofResult = Math.min(widest(rows.map(({ result }) => result)), medium ? width : MOST_OF_A_RESULT);
  const fixed = 2 + ofResult + 2 + (medium ? 2 + TOOK_WIDTH : 0) + 2 + UUID_WIDTH;
  const room = Math.max(0, width - fixed - (wide ? TIME_WIDTH + 2 : 0));
  const ofJob = Math.min(
    widest(rows.map(({ job }) => job)),
    MOST_OF_A_JOB,
    Math.max(8, Math.floor(room / 2)),
  );
  const ofChange = Math.max(0, room - ofJob - 2);
  return rows.map(({ build, result, job }) => {
    const { mark, tone } = lookOf(build);
    const took = build.duration === null ? '' : durationText(build.duration * 1000);
    const change = ofChange < 8 ? '' : `  ${toWidth(changeText(build), ofChange)}`;
    const after = medium ? `  ${toWidth(took, TOOK_WIDTH, 'right')}` : '';
    const when = wide ? `  ${paint(toWidth(timeText(build), TIME_WIDTH), 'dim')}` : '';
    const line = `${paint(`${mark} ${toWidth(result, ofResult)}`, tone)}  ${toWidth(job, ofJob)}${change}${after}${when}  ${paint(build.uuid, 'dim')}`;
    return cutTo(line, width);
  });
}

function lookOf({ result, voting }: Build): { readonly mark: string; readonly tone: Colour } {
  if (result === null) return { mark: '●', tone: 'cyan' };
  if (result === 'SUCCESS') return { mark: '✓', tone: 'green' };
  return { mark: '✗', tone: voting ? 'red' : 'yellow' };
}

function changeText({ ref, pipeline }: Build): string {
  const name = ref.change === null ? (ref.ref ?? '') : String(ref.change);
  return printable(`${ref.project} ${name} in ${pipeline}`);
}

/** UTC, to the minute. */
function timeText({ end_time, start_time }: Build): string {
  return (end_time ?? start_time ?? '').replace('T', ' ').slice(0, TIME_WIDTH);
}
