/** States of a queue item in OpenTelemetry's words for a run of a pipeline. */

import type { StretchState } from '../explain/stretches.ts';
import { assertNever } from '../lib/assert-never.ts';

export type RunState = 'pending' | 'executing' | 'finalizing';

export const RUN_STATES: readonly RunState[] = ['pending', 'executing', 'finalizing'];

export function runState(state: StretchState): RunState {
  switch (state) {
    case 'running':
      return 'executing';
    case 'reporting':
      return 'finalizing';
    case 'window':
    case 'merge':
    case 'configure':
    case 'repo-state':
    case 'hold-following':
    case 'executor':
    case 'change-ahead':
    case 'needed-change':
    case 'dependency':
    case 'host':
    case 'scheduler':
    case 'executor-lost':
      return 'pending';
    default:
      return assertNever(state, 'item state');
  }
}
