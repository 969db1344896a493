/** A processor profile of this process: which functions it was in. */
import { Session } from 'node:inspector/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Share of the busy time that a function of ours took, with what it called in libraries and in Node. Waiting for the disk in such a call
 * counts: it holds the event loop.
 */
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
    const names = placesOf(profile.nodes);
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

interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  readonly children?: readonly number[] | undefined;
}

/** By node: the innermost function of ours that is on the stack, else the function itself. */
function placesOf(nodes: readonly ProfileNode[]): ReadonlyMap<number, string> {
  const callers = new Map(nodes.flatMap(node => (node.children ?? []).map(child => [child, node] as const)));
  const places = new Map<number, string>();
  for (const node of nodes) {
    let ours: ProfileNode | undefined = node;
    while (ours !== undefined && !isOurs(ours)) ours = callers.get(ours.id);
    places.set(node.id, placeOf((ours ?? node).callFrame));
  }
  return places;
}

function isOurs({ callFrame: { url } }: ProfileNode): boolean {
  return url.startsWith('file:') && !url.includes('/node_modules/');
}

function placeOf({ functionName, url, lineNumber }: ProfileNode['callFrame']): string {
  if (url === '') return functionName === '' ? '(anonymous)' : functionName;
  const file = url.startsWith('file:') ? path.relative(process.cwd(), fileURLToPath(url)) : url;
  return `${functionName === '' ? '(anonymous)' : functionName} ${file}:${lineNumber + 1}`;
}
