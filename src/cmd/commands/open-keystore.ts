/** The keystore of an installation, for commands that open its store themselves. */
import { systemClock } from '../../lib/clock.ts';
import type { Secret } from '../../lib/secret.ts';
import { readSections } from '../../settings/read-settings.ts';
import { createKeyring, deleteKeystore } from '../../store/keystore/keyring.ts';
import { KeyDamaged, type Keystore } from '../../store/keystore/keystore.ts';
import { KeystoreLocked } from '../../store/keystore/keystore-locked.ts';
import { storePaths } from '../../store/paths.ts';
import { type Io, print } from '../terminal/io.ts';
import type { Refused } from './refused.ts';
import { complain } from './session.ts';
import { failureText, openRunning, openSource } from './stopped-store.ts';

/** Closed when the command ends. */
export interface OpenedKeystore {
  readonly keystore: Keystore;
  /** With which the keys are sealed. */
  readonly password: Secret;
}

/** @returns the exit status, or why there is nothing to do. */
export type KeystoreWork = (opened: OpenedKeystore) => Promise<number | Refused>;

const INTERRUPTED = 130;

/** Deletes all keys; needs no password. @returns the exit status. */
export async function dropKeystore(io: Io, config: string): Promise<number> {
  return guarded(io, async (signal, stack) => {
    const read = readSections(config, io.environment, { wanted: ['store'] });
    if (read.kind === 'invalid') return complain(io, read.errors.join('\nerror: '));
    const source = await openSource(config, { io, signal, stack });
    if (source.kind === 'refused') return complain(io, source.text);
    const deleted = await deleteKeystore(source.stopped.store, storePaths(read.settings.store.root));
    print(io, `deleted the keys of ${deleted} projects`);
    return 0;
  });
}

/** @returns the exit status; a refusal is printed. */
export async function withKeystore(io: Io, config: string, work: KeystoreWork): Promise<number> {
  return guarded(io, async (signal, stack) => {
    const read = readSections(config, io.environment, { wanted: ['keystore', 'store'] });
    if (read.kind === 'invalid') return complain(io, read.errors.join('\nerror: '));
    const { keystore: settings, store: where } = read.settings;
    if (settings === undefined) return complain(io, `[keystore] password is not set in ${config}`);
    const source = await openRunning(config, { io, signal, stack });
    if (source.kind === 'refused') return complain(io, source.text);
    const keyring = createKeyring(settings.password);
    const keystore = await keyring.open(source.stopped.store, storePaths(where.root), systemClock());
    const outcome = await work({ keystore, password: settings.password });
    return typeof outcome === 'number' ? outcome : complain(io, outcome.text);
  });
}

async function guarded(
  io: Io,
  work: (signal: AbortSignal, stack: AsyncDisposableStack) => Promise<number>,
): Promise<number> {
  const signal = io.interrupted();
  await using stack = new AsyncDisposableStack();
  try {
    return await work(signal, stack);
  } catch (error) {
    if (signal.aborted) return INTERRUPTED;
    if (error instanceof KeystoreLocked || error instanceof KeyDamaged) return complain(io, error.message);
    return complain(io, failureText(error, 'the store'));
  }
}
