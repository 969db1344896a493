/** One proposal after another, each when the last is reported: from the push to the first line of the job, and from its end to the note. */
import { watch } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { createApi } from '../../../src/cmd/client/api.ts';
import { makeChanges, pushChanges } from './landings.ts';
import { type GateSite, openGateSite, TENANT } from './site.ts';

/** Milliseconds. */
export interface Latency {
  readonly pushToStep: readonly number[];
  readonly endToNote: readonly number[];
}

const WARM_UP = 3;
const PUSHES = 20;

export async function measureLatency(): Promise<Latency> {
  await using site = await openGateSite('check');
  const pushToStep: number[] = [];
  const endToNote: number[] = [];
  for (let push = 0; push < WARM_UP + PUSHES; push++) {
    const name = `check${push}x`;
    const commits = await makeChanges(site, 1, name);
    const noted = nextNote(site);
    await pushChanges(site, commits, name, false);
    const pushed = now();
    const notedAt = await noted;
    if (push < WARM_UP) continue;
    const { begun, ended } = await timesOf(site, commits[0] ?? '');
    pushToStep.push(begun - pushed);
    endToNote.push(notedAt - ended);
  }
  return { pushToStep, endToNote };
}

/** Milliseconds since the epoch. */
function now(): number {
  return performance.timeOrigin + performance.now();
}

/** To be called before what it waits for. */
function nextNote({ bare }: GateSite): Promise<number> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error('no note within a minute')), 60_000);
    const watcher = watch(path.join(bare, 'refs/notes'), (_, file) => {
      if (file !== 'gatehouse') return;
      clearTimeout(late);
      watcher.close();
      resolve(now());
    });
  });
}

interface EndedBuild {
  readonly uuid: string;
  readonly gatehouse: { readonly ended_at: string | null };
  readonly ref: { readonly patchset: string | null };
}

/** When the job wrote its first line, and when it ended. */
async function timesOf({ url, logs }: GateSite, commit: string) {
  const api = createApi(url);
  const deadline = AbortSignal.timeout(60_000);
  for (;;) {
    deadline.throwIfAborted();
    const builds = await api.get<readonly EndedBuild[]>(`/api/tenant/${TENANT}/builds?limit=1`);
    const build = builds.find(({ ref }) => ref.patchset === commit);
    if (build === undefined) continue;
    const log = (await readdir(logs, { recursive: true })).find(
      file => file.includes(build.uuid) && file.endsWith('.txt'),
    );
    const text = await readFile(path.join(logs, log ?? ''), 'utf8');
    const stamp = /^(\S+ \S+) \| begun$/m.exec(text)?.[1];
    if (stamp === undefined) throw new Error(`build ${build.uuid} has no line of its job in ${log}`);
    return {
      begun: Date.parse(`${stamp.replace(' ', 'T')}Z`),
      ended: Number(build.gatehouse.ended_at) / 1e6,
    };
  }
}
