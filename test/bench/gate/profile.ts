/** A processor profile of this process: which functions it was in. */
import { Session } from 'node:inspector/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** Share of the busy time that a function itself took, callees left out. */
export interface ProfileLine {
  readonly where: string;
  readonly ms: number;
  readonly share: number;
}

const MOST_LINES = 10;
const NOT_BUSY = new Set(['(idle)', '(program)', '(root)']);

/** @returns ends the profile. */
export async function startProfile(): Promise<() => Promise<readonly ProfileLine[]>> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: 500 });
  await session.post('Profiler.start');
  return async () => {
    const { profile } = await session.post('Profiler.stop');
    session.disconnect();
    const own = new Map<string, number>();
    const names = new Map(profile.nodes.map(node => [node.id, placeOf(node.callFrame)]));
    for (const [at, id] of (profile.samples ?? []).entries()) {
      const name = names.get(id) ?? '';
      if (!NOT_BUSY.has(name)) own.set(name, (own.get(name) ?? 0) + (profile.timeDeltas?.[at] ?? 0) / 1000);
    }
    const busy = [...own.values()].reduce((sum, ms) => sum + ms, 0);
    return [...own]
      .toSorted(([, a], [, b]) => b - a)
      .slice(0, MOST_LINES)
      .map(([where, ms]) => ({ where, ms, share: ms / busy }));
  };
}

function placeOf({
  functionName,
  url,
  lineNumber,
}: {
  readonly functionName: string;
  readonly url: string;
  readonly lineNumber: number;
}): string {
  if (url === '') return functionName === '' ? '(anonymous)' : functionName;
  const file = url.startsWith('file:') ? path.relative(process.cwd(), fileURLToPath(url)) : url;
  return `${functionName === '' ? '(anonymous)' : functionName} ${file}:${lineNumber + 1}`;
}
