/** SSH of a fake Gerrit: its accounts, its events. */
import type { FakeGerrit } from '../fake-gerrit.ts';
import { type FakeSsh, type FakeSshDeps, type KeyPair, startFakeSsh } from './fake-ssh.ts';

/** @param keys by username; an account without one cannot connect. */
export async function startGerritSsh(
  gerrit: Pick<FakeGerrit, 'world'>,
  keys: { readonly [username: string]: KeyPair },
  commands: FakeSshDeps['commands'] = {},
): Promise<FakeSsh> {
  const { world } = gerrit;
  const visible = new WeakMap<object, (username: string) => boolean>();
  const ssh = await startFakeSsh({
    commands,
    version: world.version,
    account(username) {
      const account = world.accounts.get(username);
      const key = keys[username];
      if (account === undefined || key === undefined) return undefined;
      return { keys: [key.public], mayStream: account.capabilities.has('streamEvents') };
    },
    sees: (username, event) => visible.get(event)?.(username) ?? true,
  });
  const stop = world.onEvent(emitted => {
    const { json } = emitted;
    visible.set(json, username => emitted.visibleTo(world.accounts.get(username) ?? null));
    ssh.send(json);
  });
  return {
    ...ssh,
    async [Symbol.asyncDispose]() {
      stop();
      await ssh[Symbol.asyncDispose]();
    },
  };
}
