import { describe, expect, test } from 'vitest';
import { systemClock } from '../../../../src/lib/clock.ts';
import { Secret } from '../../../../src/lib/secret.ts';
import { projectKeysCodec } from '../../../../src/model/codec/records.ts';
import { projectKey } from '../../../../src/model/project.ts';
import { openEmbeddedStore } from '../../../../src/store/embedded/server.ts';
import { createKeyring, deleteKeystore } from '../../../../src/store/keystore/keyring.ts';
import { createKeystore, KeyDamaged } from '../../../../src/store/keystore/keystore.ts';
import { KeystoreLocked } from '../../../../src/store/keystore/keystore-locked.ts';
import { readZuulKeys } from '../../../../src/store/keystore/zuul-keys.ts';
import { storePaths } from '../../../../src/store/paths.ts';
import { create, set } from '../../../../src/store/port.ts';
import {
  FROM_OPENSSL,
  KEYSTORE_PASSWORD,
  PUBLIC_KEY,
  SSH_PUBLIC_KEY,
  ZUUL_KEYS,
} from '../../../fake/project-keys.ts';
import { FaultyStore } from '../faulty-store.ts';

const paths = storePaths('/gatehouse');
const clock = systemClock();
const PROJECT = projectKey({ connection: 'local', name: 'org/project' });

describe('the keystore', () => {
  test('makes the keys of a project once, when several processes ask and replies are lost', async () => {
    await using server = openEmbeddedStore({ file: ':memory:' });
    const masterKey = new Uint8Array(32).fill(3);
    const processes = Array.from({ length: 3 }, () => new FaultyStore(server.connect())).map(store => ({
      store,
      keystore: createKeystore({ store, paths, clock, masterKey, secretsBits: 1024 }),
    }));
    processes[0]?.store.faults.push('lose-reply', 'lose-reply');
    const asked = processes.flatMap(({ keystore }) => [0, 1].map(() => keystore.publicKeys(PROJECT)));
    const answers = new Set((await Promise.all(asked)).map(keys => JSON.stringify(keys)));
    expect(answers.size).toBe(1);
    expect([...answers][0]).toContain('BEGIN PUBLIC KEY');
    expect([...answers][0]).toContain('ssh-rsa AAAA');
  });

  test("takes Zuul's keys, decrypts with them, and keeps them sealed", async () => {
    await using server = openEmbeddedStore({ file: ':memory:' });
    const store = server.connect();
    const keystore = await createKeyring(KEYSTORE_PASSWORD).open(store, paths, clock);
    const read = readZuulKeys(ZUUL_KEYS, KEYSTORE_PASSWORD);
    const keys = read.kind === 'keys' ? (read.projects[0]?.keys ?? {}) : {};
    expect(await keystore.opener(PROJECT)).toBeUndefined();
    expect(await keystore.write(PROJECT, keys, false)).toEqual(['secrets', 'ssh']);
    expect(await keystore.write(PROJECT, keys, false)).toEqual([]);
    expect(await keystore.publicKeys(PROJECT)).toEqual({ secrets: PUBLIC_KEY, ssh: SSH_PUBLIC_KEY });
    const open = await keystore.opener(PROJECT);
    expect((await open?.([FROM_OPENSSL]))?.toString()).toBe('from the client');
    expect(await keystore.projects()).toEqual([PROJECT]);
    const node = await store.get(paths.key('local', 'org/project'));
    expect(Buffer.from(node?.data ?? []).toString()).not.toContain('PRIVATE');
  });

  test('refuses another password in one line, and takes it when the keys are deleted', async () => {
    await using server = openEmbeddedStore({ file: ':memory:' });
    const store = server.connect();
    await createKeyring(new Secret('one')).open(store, paths, clock);
    const locked = createKeyring(new Secret('two')).open(store, paths, clock);
    await expect(locked).rejects.toThrow(KeystoreLocked);
    await expect(locked).rejects.toThrow(/^\[keystore\] password is not the one [^\n]*$/);
    expect(await deleteKeystore(store, paths)).toBe(0);
    await createKeyring(new Secret('two')).open(store, paths, clock);
  });

  test('does not open a sealed key in the place of another', async () => {
    await using server = openEmbeddedStore({ file: ':memory:' });
    const store = server.connect();
    const keystore = await createKeyring(KEYSTORE_PASSWORD).open(store, paths, clock);
    const read = readZuulKeys(ZUUL_KEYS, KEYSTORE_PASSWORD);
    await keystore.write(PROJECT, read.kind === 'keys' ? (read.projects[0]?.keys ?? {}) : {}, false);
    const path = paths.key('local', 'org/project');
    const node = await store.get(path);
    if (node === undefined) throw new Error('no keys');
    const other = projectKey({ connection: 'local', name: 'org/other' });
    await store.multi([create(paths.key('local', 'org/other'), node.data)]);
    await expect(keystore.opener(other)).rejects.toThrow(KeyDamaged);
    const { secrets, ssh } = projectKeysCodec.decode(node.data);
    if (secrets === undefined || ssh === undefined) throw new Error('no keys');
    await store.multi([set(path, projectKeysCodec.encode({ secrets: ssh, ssh: secrets }))]);
    await expect(keystore.opener(PROJECT)).rejects.toThrow(KeyDamaged);
    expect(await keystore.remove(PROJECT)).toBe(true);
    expect(await keystore.remove(PROJECT)).toBe(false);
  });
});
