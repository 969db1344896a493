/** Words and numbers for people. */

/** `420 ms`, `2.4 s`, `32 s`, `2m 05s`, `1h 04m`, `3d 2h`. */
export function duration(ms) {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (ms < 950) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 9950) return `${(ms / 1000).toFixed(1)} s`;
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m ${two(seconds % 60)}s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours}h ${two(minutes % 60)}m`;
  return `${Math.floor(hours / 24)}d ${hours % 24}h`;
}

/** As `duration`, but never finer than seconds: for clocks that run. */
export function elapsed(ms) {
  return ms < 10_000 ? `${Math.max(0, Math.round(ms / 1000))} s` : duration(ms);
}

export function clock(ms) {
  return new Date(ms).toLocaleTimeString(undefined, {
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
  });
}

export function dateAndClock(ms) {
  return new Date(ms).toLocaleString(undefined, {
    dateStyle: 'medium',
    timeStyle: 'medium',
    hourCycle: 'h23',
  });
}

export function count(number, one, many = `${one}s`) {
  return `${number} ${number === 1 ? one : many}`;
}

/** Of a share, 0 to 1. */
export function percent(share) {
  return share > 0 && share < 0.01 ? '<1 %' : `${Math.round(share * 100)} %`;
}

function two(number) {
  return String(number).padStart(2, '0');
}

const STATES = {
  window: { word: 'outside the window', kind: 'wait' },
  merge: { word: 'merging', kind: 'prepare' },
  configure: { word: 'choosing jobs', kind: 'prepare' },
  'repo-state': { word: 'reading repositories', kind: 'prepare' },
  'hold-following': { word: 'held by a job ahead', kind: 'wait' },
  executor: { word: 'waiting for an executor', kind: 'wait' },
  running: { word: 'testing', kind: 'run' },
  'change-ahead': { word: 'waiting for the change ahead', kind: 'wait' },
  'needed-change': { word: 'waiting for a needed change', kind: 'wait' },
  host: { word: 'waiting for the code host', kind: 'wait' },
  dependency: { word: 'holding a place', kind: 'wait' },
  reporting: { word: 'reporting', kind: 'report' },
  scheduler: { word: 'waiting for the scheduler', kind: 'wait' },
  'executor-lost': { word: 'its executor was lost', kind: 'wait' },
};

export function stateWord(name) {
  return STATES[name]?.word ?? name;
}

/** `wait`, `prepare`, `run` or `report`. */
export function stateKind(name) {
  return STATES[name]?.kind ?? 'wait';
}

/** Of a decimal text of nanoseconds. */
export function milliseconds(nanoseconds) {
  return Number(BigInt(nanoseconds) / 1000n) / 1000;
}

const BAD = new Set([
  'FAILURE',
  'TIMED_OUT',
  'POST_FAILURE',
  'RETRY_LIMIT',
  'DISK_FULL',
  'NODE_FAILURE',
  'ERROR',
  'MERGE_CONFLICT',
  'MERGE_FAILURE',
  'CONFIG_ERROR',
  'FAILING',
]);

/** `good`, `bad`, `retry`, `off` (cancelled, skipped, dequeued) or, for null, `open`. */
export function resultKind(result) {
  if (result === null || result === undefined) return 'open';
  if (result === 'SUCCESS') return 'good';
  if (BAD.has(result)) return 'bad';
  return result === 'RETRY' || result === 'SUPERSEDED' ? 'retry' : 'off';
}

export function resultMark(kind) {
  return { good: '✓', bad: '✕', retry: '↻', off: '–', open: '·' }[kind];
}

export function resultWord(result) {
  const words = {
    SUCCESS: 'passed',
    FAILURE: 'failed',
    TIMED_OUT: 'timed out',
    CANCELED: 'cancelled',
    DEQUEUED: 'dequeued',
    FAILING: 'failing',
  };
  return words[result] ?? String(result).toLowerCase().replaceAll('_', ' ');
}
