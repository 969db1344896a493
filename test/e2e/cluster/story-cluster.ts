/** A cluster with its own ZooKeeper, started and ready. */
import { startEnsemble, type ZooKeeperEnsemble } from '../../fake/zookeeper/ensemble.ts';
import { startZooKeeper, type ZooKeeperServer } from '../../fake/zookeeper/server.ts';
import { type Cluster, type ClusterOptions, type ClusterZooKeeper, openCluster } from './cluster.ts';
import { type TermWatch, watchTerms } from './term-watch.ts';
import { waitFor } from './wait-for.ts';

export interface Story extends AsyncDisposable {
  readonly cluster: Cluster;
  readonly terms: TermWatch;
}

type StoryOptions = Omit<ClusterOptions, 'store'>;

/** On one server. */
export async function storyCluster(
  options: StoryOptions = {},
): Promise<Story & { readonly server: ZooKeeperServer }> {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await startZooKeeper());
  const { port, dataDirectory } = server;
  const zookeeper = { hosts: `127.0.0.1:${port}`, port, dataDirectory };
  const story = await started(zookeeper, options, stack);
  return { ...story, server };
}

/** On three servers; the log is read at one that does not lead. */
export async function storyOnEnsemble(
  options: StoryOptions = {},
): Promise<Story & { readonly ensemble: ZooKeeperEnsemble }> {
  await using stack = new AsyncDisposableStack();
  const ensemble = stack.use(await startEnsemble(3));
  const leader = await ensemble.leader();
  const follower = ensemble.members.find(member => member !== leader);
  if (follower === undefined) throw new Error('there is no follower');
  const hosts = ensemble.hosts.map(({ host, port }) => `${host}:${port}`).join(', ');
  const { port, dataDirectory } = follower;
  const story = await started({ hosts, port, dataDirectory }, options, stack);
  return { ...story, ensemble };
}

/** @param stack what was opened before; the story has it when all went well. */
async function started(
  zookeeper: ClusterZooKeeper,
  options: StoryOptions,
  stack: AsyncDisposableStack,
): Promise<Story> {
  const cluster = stack.use(await openCluster({ ...options, store: zookeeper }));
  const terms = stack.use(watchTerms(cluster));
  try {
    await cluster.start();
    await waitFor('every process to be registered', () =>
      cluster.processes.every(({ pid }) => pid !== undefined && terms.sessionsOf(pid).length > 0),
    );
  } catch (error) {
    process.stderr.write(`${cluster.describe()}\n`);
    throw error;
  }
  const owned = stack.move();
  return { cluster, terms, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
