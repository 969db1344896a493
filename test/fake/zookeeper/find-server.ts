/**
 * Where the tests get a real ZooKeeper server from, best first:
 *
 * 1. `GATEHOUSE_TEST_ZOOKEEPER_HOME`, the directory of an unpacked distribution, or `GATEHOUSE_TEST_ZOOKEEPER`, a Java class
 *    path, or the word `none`: then there is none, and none is installed;
 * 2. Debian's packages, where they are installed;
 * 3. elsewhere none: `install-server.ts` can fetch the packages.
 *
 * Java is `$JAVA_HOME/bin/java`, else the one on the PATH.
 */
import { accessSync, constants, existsSync, readdirSync } from 'node:fs';
import path from 'node:path';

export interface FoundServer {
  readonly kind: 'found';
  /** Path of the Java virtual machine. */
  readonly java: string;
  readonly classPath: string;
  /** For people: `3.8.0 (Debian package)`. */
  readonly description: string;
}

export type ServerSearch =
  | FoundServer
  /** `installable`: Debian's packages would mend it. */
  | { readonly kind: 'none'; readonly reason: string; readonly installable: boolean };

type Environment = Readonly<Record<string, string | undefined>>;

const DEBIAN_JARS = '/usr/share/java';

/** The manifest of Debian's zookeeper.jar names most of what it needs, but neither a logger nor all of Netty (for TLS). */
const DEBIAN_CLASS_PATH = [
  'zookeeper',
  'slf4j-simple',
  'netty-codec',
  'netty-resolver',
  'netty-transport-native-unix-common',
].map(name => path.join(DEBIAN_JARS, `${name}.jar`));

export function findServer(env: Environment = process.env): ServerSearch {
  const home = env.GATEHOUSE_TEST_ZOOKEEPER_HOME;
  const classPath = env.GATEHOUSE_TEST_ZOOKEEPER;
  const java = findJava(env);
  if (home) {
    const jar = jarsOf(path.join(home, 'lib')).find(name => /^zookeeper-\d/.test(name));
    if (jar === undefined)
      return none(
        `GATEHOUSE_TEST_ZOOKEEPER_HOME: ${path.join(home, 'lib')} holds no zookeeper-<version>.jar`,
      );
    if (java === undefined) return none(NO_JAVA);
    return found(java, path.join(home, 'lib', '*'), `${versionOf(jar)} (${home})`);
  }
  if (classPath === 'none') return none('GATEHOUSE_TEST_ZOOKEEPER=none');
  if (classPath) {
    if (java === undefined) return none(NO_JAVA);
    return found(java, classPath, 'GATEHOUSE_TEST_ZOOKEEPER');
  }
  const missing = DEBIAN_CLASS_PATH.filter(jar => !existsSync(jar));
  if (missing.length > 0) return none(`${missing[0]} is not there`, true);
  if (java === undefined) return none(NO_JAVA, true);
  const jar = jarsOf(DEBIAN_JARS).find(name => /^zookeeper-\d/.test(name));
  return found(java, DEBIAN_CLASS_PATH.join(':'), `${versionOf(jar ?? '')} (Debian package)`);
}

const NO_JAVA = 'no java on the PATH nor in JAVA_HOME';

function found(java: string, classPath: string, description: string): FoundServer {
  return { kind: 'found', java, classPath, description };
}

function none(reason: string, installable = false): ServerSearch {
  return { kind: 'none', reason, installable };
}

function findJava(env: Environment): string | undefined {
  const home = env.JAVA_HOME;
  const folders = [...(home ? [path.join(home, 'bin')] : []), ...(env.PATH ?? '').split(path.delimiter)];
  return folders
    .filter(folder => folder !== '')
    .map(folder => path.join(folder, 'java'))
    .find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function jarsOf(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}

function versionOf(jar: string): string {
  return /^zookeeper-(\d[\w.]*)\.jar$/.exec(jar)?.[1] ?? 'unknown version';
}
