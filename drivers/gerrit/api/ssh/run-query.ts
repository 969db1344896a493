/** `gerrit query`: the rows that it shows, one JSON object in a line, and behind them how many there are. */
import { setImmediate } from 'node:timers/promises';
import { isMapping } from '../../../../src/driver/read-mapping.ts';
import type { Json } from '../../../../src/model/job.ts';
import type { SshSession } from '../../ssh/ssh-session.ts';
import { sshWord } from '../../ssh/ssh-word.ts';
import type { JsonMapping } from '../info-json.ts';
import type { GerritRaw } from '../send.ts';
import { refusedOverSsh } from './ssh-refused.ts';

/** What is asked. */
export interface SshQuery {
  /** In Gerrit's query language. */
  readonly text: string;
  /** Without `--format`, e.g. `--comments`. */
  readonly options: readonly string[];
}

/** What was shown, or why nothing was. */
export type SshRows =
  | {
      readonly kind: 'rows';
      readonly rows: readonly JsonMapping[];
      /** The query has further results. */
      readonly hasMore: boolean;
      /** Of the answer. */
      readonly bytes: number;
    }
  | GerritRaw;

/** @throws the signal's reason. */
export async function runQuery(
  { text, options }: SshQuery,
  { session, deadlineMs }: { readonly session: SshSession; readonly deadlineMs: number },
  signal: AbortSignal,
): Promise<SshRows> {
  const words = ['gerrit', 'query', '--format=JSON', ...options, text];
  const ran = await session.run({ line: words.map(sshWord).join(' '), deadlineMs }, signal);
  if (ran.kind === 'silent') return ran;
  // A query that cannot be read is answered with a row that says so; anything else is trouble of the server.
  if (ran.code !== 0) return refusedOverSsh(500, ran.complaint);
  const lines = await parsedLines(ran.output);
  if (lines === undefined) return refusedOverSsh(502, 'gerrit query answered with something else than JSON');
  const last = lines.at(-1);
  const wrong = lines.find(({ type }) => type === 'error');
  if (wrong !== undefined) return refusedOverSsh(400, String(wrong.message));
  if (last?.type !== 'stats') return refusedOverSsh(502, 'gerrit query ended in the middle of its answer');
  return {
    kind: 'rows',
    rows: lines.filter(({ type }) => type === undefined),
    hasMore: last.moreChanges === true,
    bytes: ran.output.length,
  };
}

/** Bytes that are parsed before others have their turn. */
const AT_ONCE = 250_000;

/** @returns undefined: a line is no JSON object. */
async function parsedLines(output: Buffer): Promise<readonly JsonMapping[] | undefined> {
  const lines: JsonMapping[] = [];
  let parsed = 0;
  for (let start = 0; start < output.length; ) {
    const found = output.indexOf(0x0a, start);
    const end = found < 0 ? output.length : found;
    const line = output.toString('utf8', start, end).trim();
    start = end + 1;
    if (line === '') continue;
    const json = jsonOf(line);
    if (!isMapping(json)) return undefined;
    lines.push(json);
    parsed += line.length;
    if (parsed < AT_ONCE) continue;
    parsed = 0;
    await setImmediate();
  }
  return lines;
}

function jsonOf(line: string): Json {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}
