/** Gerrit's SSH over the world: every event goes to the streams of the accounts that may see it. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Faults, FaultyRequest } from '../../fake/code-host/faults.ts';
import { type FakeSsh, newKeyPair, type SshAnswer, startFakeSsh } from './ssh/fake-ssh.ts';
import { queryCommand } from './ssh/query-command.ts';
import { failed, reviewCommand } from './ssh/review-command.ts';
import { serveUploadPack } from './ssh/upload-pack.ts';
import { accountNamed, type EmittedEvent, type GerritWorld } from './world.ts';

export interface SshDoor {
  readonly ssh: FakeSsh;
  readonly port: number;
  /** Private key of the account, and the host's key, as files below the fake's own folder. */
  readonly keyFile: string;
  readonly knownHostsFile: string;
}

/** Whether an account streams follows its capability `streamEvents` at the time it asks. @param username whose key it makes */
export async function openSshDoor(
  world: GerritWorld,
  username: string,
  faults: Faults,
): Promise<SshDoor & AsyncDisposable> {
  const account = accountNamed(world, username);
  const pair = newKeyPair('ecdsa');
  const about = new WeakMap<object, EmittedEvent>();
  const ssh = await startFakeSsh({
    account: name =>
      name === username
        ? { keys: [pair.public], mayStream: account.capabilities.has('streamEvents') }
        : undefined,
    sees: (name, event) => about.get(event)?.visibleTo(accountNamed(world, name)) ?? true,
    version: world.version === '3.2' ? '3.2.0-SNAPSHOT-60de668a26' : '3.11.1',
    commands: {
      query: (args, name) =>
        suffering(faults, { operation: 'changes/query', method: 'GET', path: args.join(' '), body: '' }, () =>
          queryCommand(world, accountNamed(world, name), args),
        ),
      review(args, name) {
        const operation = args.includes('--submit') ? 'changes/submit' : 'changes/review';
        const asked = { operation, method: 'POST', path: args.join(' '), body: '' };
        return suffering(faults, asked, () => reviewCommand(world, accountNamed(world, name), args));
      },
    },
    async uploadPack(project, name, channel, protocol) {
      const asked = { operation: 'git/fetch', method: 'GET', path: project, body: '' };
      const ended = await suffering(faults, asked, async () => ({
        code: await serveUploadPack(world, accountNamed(world, name), project, protocol, channel),
      }));
      if (ended.err !== undefined) channel.stderr.write(ended.err);
      return ended.code;
    },
  });
  const stop = world.onEvent(event => {
    about.set(event.json, event);
    ssh.send(event.json);
  });
  const keyFile = path.join(world.root, `${username}.key`);
  const knownHostsFile = path.join(world.root, 'known_hosts');
  await writeFile(keyFile, pair.private, { mode: 0o600 });
  await writeFile(knownHostsFile, `${ssh.knownHosts}\n`);
  return {
    ssh,
    port: ssh.port,
    keyFile,
    knownHostsFile,
    async [Symbol.asyncDispose]() {
      stop();
      await ssh[Symbol.asyncDispose]();
    },
  };
}

/** The same faults as over HTTP: a status of 500 and above is trouble of the server, a lower one its refusal. */
async function suffering(
  faults: Faults,
  asked: FaultyRequest,
  perform: () => Promise<SshAnswer>,
): Promise<SshAnswer> {
  const ailment = faults.take(asked);
  switch (ailment?.kind) {
    case undefined:
      return await perform();
    case 'late':
      await delay(ailment.ms);
      return await perform();
    case 'after':
      await ailment.what();
      return await perform();
    case 'hang':
    case 'reset':
      if (ailment.after === true) await perform();
      if (ailment.kind === 'hang') await faults.healed();
      return { code: null };
    case 'status': {
      if (ailment.after === true) await perform();
      const text = ailment.message ?? 'Internal server error';
      return ailment.status >= 500
        ? { err: `fatal: internal server error: ${text}\n`, code: 128 }
        : failed(`fatal: ${text}`);
    }
  }
}
