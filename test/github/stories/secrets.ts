/** What must not be anywhere, and where to look for it. */

import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { buildsAreDeleted } from '../../scenario/deleted-builds.ts';
import type { FakeGithub } from '../fake/fake-github.ts';

/** Every token that GitHub issued, as it is and as git sends it, the App's key and the secret of its webhook. */
export function secretsOf(github: FakeGithub, webhookToken: string): readonly string[] {
  const tokens = github.credentials.issued();
  return [
    webhookToken,
    ...tokens,
    ...tokens.map(token => Buffer.from(`x-access-token:${token}`).toString('base64')),
    ...github.app.privateKey.split('\n').filter(line => line.length > 40),
  ];
}

/** Content of all files when what ended builds had is deleted; one that vanishes meanwhile is left out. @param directory e.g. a `state_dir`. */
export async function filesBelow(directory: string): Promise<string> {
  await buildsAreDeleted(directory);
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter(each => each.isFile()).map(each => path.join(each.parentPath, each.name));
  const texts = await Promise.all(files.map(file => readFile(file, 'latin1').catch(() => '')));
  return texts.join('\n');
}
