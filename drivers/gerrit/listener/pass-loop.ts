/** When a pass over Gerrit is due, and what it looks at. */
import type { Announced } from './announced.ts';
import type { Listening } from './listening.ts';
import { projectDigest } from './mark.ts';
import { type PassEnd, passOverGerrit } from './pass.ts';
import type { PassPurpose, PassState } from './pass-state.ts';

/** Milliseconds: between passes while the stream is open; to the second pass after it was opened. */
const SAFETY_NET = 600_000;
const INDEX_LAG = 10_000;
/** Milliseconds until a listing with more pages goes on; until Gerrit is asked again after it did not answer, at most. */
const CONTINUATION = 1_000;
const FAILED = 60_000;
/** Milliseconds after which a tenant's new project is noticed. */
const NEW_PROJECTS = 60_000;
/** Projects of one pass whose branches are compared where no stream announces their moves. */
const BRANCHES_POLLED = 20;

/** Ends with the signal. */
export async function keepPassing(
  state: PassState,
  announced: Announced,
  listening: Listening,
): Promise<void> {
  let isSecond = false;
  while (!listening.signal.aborted) {
    const wasGap = listening.gap;
    const end = await onePass(wasGap || isSecond, state, announced, listening);
    const isFirst = wasGap && end !== undefined && !end.isFailing && listening.state().connected;
    isSecond = isFirst;
    await rest(isFirst ? INDEX_LAG : pauseBehind(end, listening), state, listening);
  }
}

/** @returns undefined: it ended early. */
async function onePass(
  isCatchUp: boolean,
  state: PassState,
  announced: Announced,
  listening: Listening,
): Promise<PassEnd | undefined> {
  const { watch, deps, signal } = listening;
  const { connected } = listening.state();
  const wasGap = listening.gap;
  listening.gap = false;
  const purpose: PassPurpose = {
    foundBy: isCatchUp ? 'catch-up' : 'poll',
    branchLooks: wasGap ? Number.POSITIVE_INFINITY : connected ? 0 : BRANCHES_POLLED,
    isAnnounced: info => connected && announced.isAnnounced(info),
  };
  let end: PassEnd | undefined;
  try {
    end = await passOverGerrit([...listening.names()], state, purpose, { ...watch, signal }, deps);
    // The answer is noted (noted-faults.ts): a Gerrit that was away may have another setting now.
    if (wasGap && !end.isFailing) await deps.reader.submitsTopics({ project: '', signal });
    if (end.missed > 0) listening.note({ missed: listening.state().missed + end.missed });
  } catch (error) {
    if (!signal.aborted)
      deps.log.warn({ error: String(error) }, 'a pass over Gerrit ended early; the next one goes on');
  }
  if (wasGap && (end === undefined || end.isFailing)) listening.gap = true;
  return end;
}

function pauseBehind(end: PassEnd | undefined, { state, deps }: Listening): number {
  const polling = deps.options.pollInterval * 1000;
  if (end === undefined || end.isFailing) return Math.min(polling, FAILED);
  if (end.hasRest) return CONTINUATION;
  return state().connected ? SAFETY_NET : polling;
}

/** Ends early for a project that has not had its first look, and where the stream has ended meanwhile. */
async function rest(milliseconds: number, state: PassState, listening: Listening): Promise<void> {
  const polling = listening.deps.options.pollInterval * 1000;
  let rested = 0;
  while (rested < milliseconds && !listening.signal.aborted) {
    const part = Math.min(milliseconds - rested, polling, NEW_PROJECTS);
    if (await listening.pause(part)) return;
    rested += part;
    if (!listening.state().connected && rested >= polling) return;
    if ([...listening.names()].some(name => !state.covered.has(projectDigest(name)))) return;
  }
}
