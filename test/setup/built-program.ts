/** The program as it is released: a build, made once for all tests, for processes that tests start. */
import path from 'node:path';
import { build } from '../../scripts/build.ts';

const FOLDER = path.resolve(import.meta.dirname, '../../node_modules/.cache/build');

/** @returns the path of the module that is the command line; the build is of the sources as they are now. */
export async function builtProgram(): Promise<string> {
  await build(FOLDER);
  return path.join(FOLDER, 'src/cmd/main.js');
}
