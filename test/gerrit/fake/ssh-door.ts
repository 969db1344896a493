/** Gerrit's SSH over the world: every event goes to the streams of the accounts that may see it. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type FakeSsh, newKeyPair, startFakeSsh } from './ssh/fake-ssh.ts';
import { accountNamed, type EmittedEvent, type GerritWorld } from './world.ts';

export interface SshDoor {
  readonly ssh: FakeSsh;
  readonly port: number;
  /** Private key of the account, and the host's key, as files below the fake's own folder. */
  readonly keyFile: string;
  readonly knownHostsFile: string;
}

/** Whether an account streams follows its capability `streamEvents` at the time it asks. @param username whose key it makes */
export async function openSshDoor(world: GerritWorld, username: string): Promise<SshDoor & AsyncDisposable> {
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
