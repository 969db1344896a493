/**
 * Where the tests of pages get a browser from: `GATEHOUSE_TEST_CHROMIUM`, a path, or the word `none`: then there is none, and none is
 * installed; else Debian's `chromium`, installed where that is possible.
 */
import { existsSync } from 'node:fs';
import { aptInstall } from './apt-install.ts';
import { absent, declined, type ProvidedProgram } from './provided.ts';

const DEBIAN = '/usr/bin/chromium';

export async function findOrInstallChromium(): Promise<ProvidedProgram> {
  const wanted = process.env.GATEHOUSE_TEST_CHROMIUM;
  if (wanted === 'none') return declined('GATEHOUSE_TEST_CHROMIUM');
  const program = wanted || DEBIAN;
  if (existsSync(program)) return { kind: 'found', program };
  const reason = `no ${program}`;
  if (program !== DEBIAN) return absent(reason);
  const failure = await aptInstall(['chromium'], reason);
  return existsSync(program)
    ? { kind: 'found', program }
    : absent(`${reason}; ${failure ?? 'apt-get install did not bring it'}`);
}
