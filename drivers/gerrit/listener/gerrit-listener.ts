/**
 * The listener of a Gerrit connection: the event stream for speed, and passes over Gerrit for what no event announced.
 *
 *     stream open     a pass at once, because the stream begins at the moment it is opened; another 10 s later, for what an index that lags
 *                     did not show; then one every 10 minutes
 *     stream away     opened again after 1 s, 2 s, … 60 s; meanwhile a pass every `pollInterval`
 *     no stream       a pass every `pollInterval`
 *
 * A pass reads Gerrit and stores events like those of the stream: processing compares with what is remembered, so that a line lost,
 * doubled, late or swapped ends in the same state. Lines do not wait for a pass, and no project waits for another one.
 *
 * A map of the folder, in the order of reading:
 *
 *     both loops    listening (how the stream is; what wakes a pass)
 *     the stream    stream-loop → announced (lines, stored)
 *     the passes    pass-loop (when) → pass (what) with pass-state → list-changes → listing (pages), is-remembered; branch-looks
 *     as events     findings, mark (how far the listener has looked)
 *
 * Nothing here decides what happened to a change: `../reading/` does, when an event is processed.
 */
import type { Listener } from '../../../src/driver/intake.ts';
import { createAnnounced } from './announced.ts';
import { createBranchLooks } from './branch-looks.ts';
import { type GerritListenerDeps, startListening } from './listening.ts';
import { recallMark } from './mark.ts';
import { keepPassing } from './pass-loop.ts';
import { newPassState } from './pass-state.ts';
import { keepStream, lineWarnings, streamPlace } from './stream-loop.ts';

/** `listen` ends with its signal. */
export function createGerritListener(deps: GerritListenerDeps): Listener {
  return {
    async listen(watch) {
      const stop = new AbortController();
      const listening = startListening(watch, AbortSignal.any([watch.signal, stop.signal]), deps);
      const state = newPassState(await recallMark(watch.memory), createBranchLooks(deps.api));
      const warnings = lineWarnings(deps);
      const announced = createAnnounced({
        emit: watch.emit,
        isWatched: name => listening.names().has(name),
        stored: notification => state.looks.moved(notification),
        garbage: reason =>
          warnings.warn({ reason }, 'a line of the event stream is none of Gerrit: it is left out'),
      });
      const place = streamPlace(deps.options);
      const loops = [
        keepPassing(state, announced, listening),
        ...(place === undefined ? [] : [keepStream(place, announced, warnings, listening)]),
      ];
      try {
        await Promise.all(loops);
      } finally {
        // One that ended by an error of ours ends the other.
        stop.abort();
        await Promise.allSettled(loops);
        deps.noted?.(undefined);
      }
    },
  };
}
