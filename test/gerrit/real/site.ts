/**
 * A Gerrit of its own as a process: a new site in a temporary folder, on free ports of 127.0.0.1.
 *
 *     await using site = await startSite(place, { submitWholeTopic: false, pages: false });
 *     await site.stop();       // as an operator does: SIGTERM, and waits for the end
 *     await site.start();      // the same data and ports; resolves when it answers
 *
 * It ends with the test process, however that ends, and takes its data along.
 */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { runGit } from '../../fake/git-repository.ts';
import { freePort } from '../../fake/zookeeper/free-port.ts';
import { type JavaProcess, startJava } from '../../fake/zookeeper/server-process.ts';
import type { GerritPlace } from './find-gerrit.ts';

/** The account that Gerrit's development mode creates; its password is public. */
export const ADMIN = { username: 'admin', password: 'secret' };

export interface Site extends AsyncDisposable {
  readonly url: string;
  readonly sshPort: number;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Milliseconds: of making a site, and of a start until the first answer. */
const PATIENCE = 900_000;
const MEMORY = '-Xmx512m';

export async function startSite(
  { war, java }: Extract<GerritPlace, { readonly kind: 'program' }>,
  { submitWholeTopic, pages }: { readonly submitWholeTopic: boolean; readonly pages: boolean },
): Promise<Site> {
  const folder = await mkdtemp(path.join(tmpdir(), 'gatehouse-gerrit-'));
  const at = (name: string) => path.join(folder, name);
  const [httpPort, sshPort] = [await freePort(), await freePort()];
  const url = `http://127.0.0.1:${httpPort}`;
  // The launcher unpacks its archive below GERRIT_TMP, or else below the home of the person.
  const unpacked = at('unpacked');
  await mkdir(unpacked, { recursive: true });
  const view = pages ? [] : ['--headless'];
  const run = [MEMORY, `-Duser.home=${folder}`, '-jar', war];
  let running: JavaProcess | undefined;

  const site: Site = {
    url,
    sshPort,
    async start() {
      const command = ['env', `GERRIT_TMP=${unpacked}`, java, ...run];
      const [program = '', ...args] = [...command, 'daemon', '-d', at('site'), '--console-log', ...view];
      const started = await startJava(program, args, folder);
      running = started;
      await answering(url, started);
    },
    async stop() {
      if (running === undefined || running.hasEnded()) return;
      process.kill(running.pid, 'SIGTERM');
      const unending = AbortSignal.timeout(PATIENCE);
      const late = new Promise<void>(resolve => unending.addEventListener('abort', () => resolve()));
      await Promise.race([running.ended, late]);
      await running.kill();
    },
    async [Symbol.asyncDispose]() {
      await running?.kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
  try {
    await promisify(execFile)(
      java,
      [...run, 'init', '--batch', '--dev', '--no-auto-start', '-d', at('site')],
      { timeout: PATIENCE, env: { ...process.env, GERRIT_TMP: unpacked } },
    );
    await configure(at('site/etc'), {
      'gerrit.canonicalWebUrl': `${url}/`,
      'httpd.listenUrl': `http://127.0.0.1:${httpPort}/`,
      'sshd.listenAddress': `127.0.0.1:${sshPort}`,
      'sendemail.enable': 'false',
      'change.submitWholeTopic': String(submitWholeTopic),
    });
    await site.start();
    return site;
  } catch (error) {
    const output = running?.output() ?? '';
    await site[Symbol.asyncDispose]();
    throw new Error(`Gerrit did not start: ${output}`, { cause: error });
  }
}

async function configure(folder: string, settings: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, value] of Object.entries(settings))
    await runGit(folder, ['config', '-f', 'gerrit.config', name, value]);
}

/** Asks for the version until there is one. */
async function answering(url: string, { hasEnded, output }: JavaProcess): Promise<void> {
  const patience = AbortSignal.timeout(PATIENCE);
  for (;;) {
    const answer = await fetch(`${url}/config/server/version`, { signal: patience }).catch(() => undefined);
    if (answer?.ok) return;
    if (hasEnded() || patience.aborted) throw new Error(`no answer from ${url}: ${output()}`);
    await pause(100);
  }
}
