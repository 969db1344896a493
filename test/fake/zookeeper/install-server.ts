/**
 * Fetches Debian's ZooKeeper packages, for a run on a machine that has none.
 *
 * Not the package `zookeeper` itself: the server's classes are in `libzookeeper-java`, while `zookeeper` asks for a Java with
 * a graphical interface and its eighty packages.
 */
import { aptInstall } from '../../setup/apt-install.ts';
import { findServer, type ServerSearch } from './find-server.ts';

const PACKAGES = ['libzookeeper-java', 'libnetty-java', 'libslf4j-java', 'default-jre-headless'];

/** @returns what is there afterwards. */
export async function findOrInstallServer(env = process.env): Promise<ServerSearch> {
  const first = findServer(env);
  if (first.kind === 'found' || !first.installable) return first;
  const failure = await aptInstall(PACKAGES, first.reason);
  const second = findServer(env);
  if (second.kind === 'found') return second;
  return { ...second, reason: `${second.reason}; ${failure ?? 'apt-get install did not bring it'}` };
}
