/**
 * A real mail server for a test: Mailpit, which keeps what it takes, on free ports and in memory.
 *
 *     MAILPIT_BIN=/usr/local/bin/mailpit npm run test:mail
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { freePort } from '../fake/zookeeper/free-port.ts';

/** A mail as Mailpit lists it. */
interface ListedMail {
  readonly ID: string;
  readonly Subject: string;
  readonly MessageID: string;
  readonly To: readonly { readonly Address: string }[];
}

export interface Mailpit extends AsyncDisposable {
  readonly smtpPort: number;
  /** Oldest first. */
  list(): Promise<readonly ListedMail[]>;
  headers(id: string): Promise<{ readonly [name: string]: readonly string[] }>;
  text(id: string): Promise<string>;
}

const HOW = `npm run test:mail needs Mailpit: MAILPIT_BIN=<path of the program "mailpit">
It comes from https://mailpit.axllent.org/, or with a Go toolchain: go install github.com/axllent/mailpit@v1.33.1`;

/** Milliseconds it may take to be ready. */
const PATIENCE = 30_000;

/** Called by Vitest before anything else of a run. @throws Error that says how to get one, when there is none. */
export function setup(): void {
  program();
}

function program(): string {
  const { MAILPIT_BIN: given } = process.env;
  if (given === undefined) throw new Error(HOW);
  return given;
}

/** @param options more of its command line. */
export async function startMailpit(...options: readonly string[]): Promise<Mailpit> {
  const [smtpPort, httpPort] = [await freePort(), await freePort()];
  const all = ['--smtp', `127.0.0.1:${smtpPort}`, '--listen', `127.0.0.1:${httpPort}`, ...options];
  const child = spawn(program(), [...all, '--disable-version-check', '--smtp-disable-rdns'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'exit');
  const said: string[] = [];
  for (const output of [child.stdout, child.stderr])
    createInterface({ input: output }).on('line', line => said.push(line));
  const listens = Promise.all([smtpPort, httpPort].map(untilReachable));
  const fails = ended.then(([status]) => {
    throw new Error(`it ended with status ${status}:\n${said.join('\n')}`);
  });
  await Promise.race([listens, fails]);
  fails.catch(() => {});
  const ask = async <T>(path: string) =>
    (await (await fetch(`http://127.0.0.1:${httpPort}/api/v1/${path}`)).json()) as T;
  return {
    smtpPort,
    list: async () => (await ask<{ messages: ListedMail[] }>('messages')).messages.toReversed(),
    headers: id => ask<{ [name: string]: string[] }>(`message/${id}/headers`),
    text: async id => (await ask<{ Text: string }>(`message/${id}`)).Text.replaceAll('\r\n', '\n'),
    async [Symbol.asyncDispose]() {
      child.kill();
      await ended;
    },
  };
}

/** It says that it listens before it does. @throws when it does not in time. */
async function untilReachable(port: number): Promise<void> {
  const end = performance.now() + PATIENCE;
  for (;;) {
    const socket = connect(port, '127.0.0.1');
    const reached = await once(socket, 'connect').catch((error: unknown) => error);
    socket.destroy();
    if (!(reached instanceof Error)) return;
    if (performance.now() > end) throw reached;
    await setTimeout(50);
  }
}
