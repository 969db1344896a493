/** Where `gatehouse github create-app` leaves the key and the webhook secret of the App. */
import { access, constants, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { CreatedApp } from './convert-manifest.ts';

/** The two files of an App. */
export interface AppFiles {
  readonly key: string;
  readonly webhookToken: string;
}

/** `<directory>/github.pem`, `<directory>/github.webhook-token`. */
export function appFiles(directory: string, connection: string): AppFiles {
  return {
    key: path.resolve(directory, `${connection}.pem`),
    webhookToken: path.resolve(directory, `${connection}.webhook-token`),
  };
}

/** Makes the directory where it is missing. @throws when files cannot be written there. */
export async function prepareDirectory(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true });
  await access(directory, constants.W_OK);
}

/** Readable by their owner only. @throws EEXIST: a key is never overwritten. */
export async function writeAppFiles(files: AppFiles, { key, webhookSecret }: CreatedApp): Promise<void> {
  const options = { mode: 0o600, flag: 'wx' } as const;
  await writeFile(files.key, key.reveal(), options);
  await writeFile(files.webhookToken, `${webhookSecret.reveal()}\n`, options);
}
