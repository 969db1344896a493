/** `gatehouse log`: a build's log, followed while the build runs. */
import type { Command } from 'commander';
import { parseLogLine } from '../../lib/log-line.ts';
import { pause } from '../../lib/pause.ts';
import { ApiError } from '../client/api.ts';
import type { Io } from '../terminal/io.ts';
import { createLineSplitter, createLogFilter, type LogFilter } from '../terminal/log-filter.ts';
import { write } from '../terminal/write-lines.ts';
import { type Refused, refused } from './refused.ts';
import { type AskOptions, addAskOptions, type Session, tenantPath, withTenantService } from './session.ts';

interface LogOptions extends AskOptions {
  readonly follow?: boolean;
  readonly raw?: boolean;
}

/** Milliseconds between two reads of a growing log: the web asks its executor no more often, however many read it. */
const TICK = 250;
/** Until there is one. */
const TICK_WITHOUT_LOG = 1000;
const INTERRUPTED = 130;

const EXAMPLES = `
Examples:
  gatehouse log 3832c7a4d82fbf2e6cc9850569e5ce9b
  gatehouse log https://gate.example.org/t/acme/build/3832c7a4d82fbf2e6cc9850569e5ce9b --follow
  gatehouse log 3832c7a4d82fbf2e6cc9850569e5ce9b --json | jq -r 'select(.writer == "executor").text'

Lines marked # are the executor's, lines marked | the job's; a job cannot write a line marked #. Control sequences other than colours
are removed; --raw prints them: use it for files, not for terminals.`;

/** @param done gets the exit status: 1 when there is no such build or log, 130 when Ctrl-C ends it. */
export function addLogCommand(program: Command, io: Io, done: (status: number) => void): void {
  addAskOptions(program.command('log'))
    .summary('show the log of a build')
    .description("Shows the log of a build: the output of its playbooks, and the executor's own lines.")
    .argument('<build>', 'uuid of the build, or the URL of its page')
    .option('-f, --follow', 'follow the log until the build ends')
    .option('--raw', 'print the raw text, control sequences included')
    .addHelpText('after', EXAMPLES)
    .action(async (build: string, options: LogOptions) =>
      done(await withTenantService(io, options, session => log(session, build, options))),
    );
}

async function log(session: Session, build: string, options: LogOptions): Promise<number | Refused> {
  const uuid = /(?:^|\/)([0-9a-f]{32})(?:[/?#]|$)/.exec(build)?.[1];
  if (uuid === undefined) return refused(`"${build}" is not the uuid of a build or the URL of its page`);
  const { io } = session;
  const interrupted = io.interrupted();
  const out = outputOf(session, options);
  const follow = options.follow === true;
  for (let offset = 0; ; ) {
    const piece = await readPiece(session, uuid, offset);
    if (piece === 'absent') {
      const refusal = await refusalWithoutLog(session, uuid, follow);
      if (refusal !== undefined) return refusal;
    } else {
      offset = piece.next;
      await write(io, out.lines(piece.bytes));
      if (isLast(piece, follow)) {
        await write(io, out.end());
        return 0;
      }
      if (piece.bytes.length > 0) continue;
    }
    await pause(piece === 'absent' ? TICK_WITHOUT_LOG : TICK, interrupted);
    if (interrupted.aborted) return INTERRUPTED;
  }
}

/** Undefined: the log may still come. */
async function refusalWithoutLog(
  session: Session,
  uuid: string,
  follow: boolean,
): Promise<Refused | undefined> {
  const ended = await hasEnded(session, uuid);
  if (follow && !ended) return undefined;
  return refused(`build ${uuid} has no log${ended ? '' : ' yet; --follow waits for it'}`);
}

function isLast({ complete, bytes }: Piece, follow: boolean): boolean {
  return complete || (bytes.length === 0 && !follow);
}

interface Piece {
  readonly bytes: Uint8Array;
  readonly next: number;
  /** The log ends with this piece. */
  readonly complete: boolean;
}

/** @throws ApiError */
async function readPiece(session: Session, uuid: string, offset: number): Promise<Piece | 'absent'> {
  try {
    const { bytes, header } = await session.api.bytes(
      tenantPath(session, `build/${uuid}/log?offset=${offset}`),
    );
    const next = Number(header('x-next-offset') ?? Number.NaN);
    if (!Number.isSafeInteger(next))
      throw new ApiError(0, `${session.api.root} did not answer with a log; is Gatehouse there?`);
    return { bytes, next, complete: header('x-complete') === 'true' };
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return 'absent';
    throw error;
  }
}

/** @throws ApiError if there is no such build. */
async function hasEnded(session: Session, uuid: string): Promise<boolean> {
  const build = await session.api.get<{ readonly result: string | null }>(
    tenantPath(session, `build/${uuid}`),
  );
  return build.result !== null;
}

function outputOf(session: Session, { raw }: LogOptions): LogFilter {
  const split = createLineSplitter();
  if (raw === true) return split;
  if (!session.json) return createLogFilter(session.style());
  const asJson = (line: string) => JSON.stringify(parseLogLine(line));
  return { lines: bytes => split.lines(bytes).map(asJson), end: () => split.end().map(asJson) };
}
