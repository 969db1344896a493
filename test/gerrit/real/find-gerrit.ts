/** Where a real Gerrit comes from: a program that the test starts, or one that runs already and is there for tests. */
import { accessSync, constants, existsSync } from 'node:fs';
import path from 'node:path';

/** What the environment gives. */
export type GerritPlace =
  | { readonly kind: 'program'; readonly war: string; readonly java: string }
  | {
      readonly kind: 'running';
      /** Without trailing slash. */
      readonly url: string;
      readonly sshHost: string;
      readonly sshPort: number;
      readonly admin: { readonly username: string; readonly password: string };
    };

const HOW = `npm run test:gerrit needs a Gerrit 3.2 or later:
  GERRIT_WAR=<path of gerrit.war>      starts one for the test, on free ports of 127.0.0.1, in a folder that is removed afterwards;
                                       Java is $JAVA_HOME/bin/java, else the one on the PATH (Gerrit 3.12 and later need Java 21)
  GERRIT_URL, GERRIT_SSH, GERRIT_ADMIN one that runs, e.g. http://localhost:8080, localhost:29418 and admin:<HTTP password>;
                                       it must be there for tests: they create accounts and projects and rewrite All-Projects
The program comes from https://www.gerritcodereview.com/. One without pages can be put together from Maven Central: the jars of
com.google.gerrit:gerrit-plugin-api, com.google.gerrit:gerrit-acceptance-framework (of one version) and org.bouncycastle's bcprov,
bcpg, bcpkix and bcutil below WEB-INF/lib of an archive that has com/google/gerrit/launcher/ of the first one, and names
com.google.gerrit.launcher.GerritLauncher as its Main-Class. Its version is one line in com/google/gerrit/common/Version of one more jar;
without it Gerrit says (dev).`;

/** @throws Error that says what to give, when the environment gives nothing usable. */
export function findGerrit(env: Readonly<Record<string, string | undefined>> = process.env): GerritPlace {
  const { GERRIT_WAR: war, GERRIT_URL: url, GERRIT_SSH: ssh, GERRIT_ADMIN: admin } = env;
  if (war) {
    if (!existsSync(war)) throw new Error(`GERRIT_WAR: there is no ${war}\n\n${HOW}`);
    const java = findJava(env);
    if (java === undefined) throw new Error(`no java in JAVA_HOME nor on the PATH\n\n${HOW}`);
    return { kind: 'program', war: path.resolve(war), java };
  }
  if (!url || !ssh || !admin) throw new Error(HOW);
  const [sshHost = '', sshPort = '29418'] = ssh.split(':');
  const [username = '', ...password] = admin.split(':');
  return {
    kind: 'running',
    url: url.replace(/\/+$/, ''),
    sshHost,
    sshPort: Number(sshPort),
    admin: { username, password: password.join(':') },
  };
}

function findJava(env: Readonly<Record<string, string | undefined>>): string | undefined {
  if (env.JAVA_HOME) return path.join(env.JAVA_HOME, 'bin', 'java');
  const folders = (env.PATH ?? '').split(path.delimiter).filter(folder => folder !== '');
  return folders.map(folder => path.join(folder, 'java')).find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
