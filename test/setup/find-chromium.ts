/**
 * Where the tests of pages get a browser from: `GATEHOUSE_TEST_CHROMIUM`, a path, or the word `none`: then there is none, and none is
 * installed; else Debian's `chromium-headless-shell`, which takes half the processor time of the `chromium` that is taken where it is
 * the one installed. Where there is neither, the shell is installed, if that is possible.
 */
import { existsSync } from 'node:fs';
import { aptInstall } from './apt-install.ts';
import { absent, declined, type ProvidedProgram } from './provided.ts';

const PACKAGE = 'chromium-headless-shell';
const SHELL = `/usr/bin/${PACKAGE}`;
const DEBIAN = [SHELL, '/usr/bin/chromium'];

export async function findOrInstallChromium(): Promise<ProvidedProgram> {
  const wanted = process.env.GATEHOUSE_TEST_CHROMIUM;
  if (wanted === 'none') return declined('GATEHOUSE_TEST_CHROMIUM');
  const candidates = wanted ? [wanted] : DEBIAN;
  const program = candidates.find(each => existsSync(each));
  if (program !== undefined) return { kind: 'found', program };
  const reason = `no ${candidates.join(', no ')}`;
  if (wanted) return absent(reason);
  const failure = await aptInstall([PACKAGE], reason);
  return existsSync(SHELL)
    ? { kind: 'found', program: SHELL }
    : absent(`${reason}; ${failure ?? 'apt-get install did not bring it'}`);
}
