/** A golden tree put up as an installation that runs: repositories, store, settings, and jobs that succeed at once. */
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Service, startService } from '../../src/cmd/service/service.ts';
import { openEmbeddedStore } from '../../src/store/embedded/server.ts';
import type { Store } from '../../src/store/port.ts';
import { runGit } from '../fake/git-repository.ts';
import { type OtlpSink, startOtlpSink } from '../fake/otlp-sink.ts';
import { type StoryLog, storyLog } from '../scenario/story-log.ts';
import { type DumpedNode, type GoldenTree, restore } from './dump.ts';
import { goldenSettings, installJob, TENANT } from './golden-site.ts';

export interface Finished {
  readonly uuid: string;
  readonly pipeline: string;
  readonly result: string | null;
  readonly changes: readonly { readonly name: string }[];
}

export interface PutUp extends AsyncDisposable {
  readonly service: Service;
  readonly sink: OtlpSink;
  readonly log: StoryLog;
  /** Items that left, newest first. */
  finished(): Promise<readonly Finished[]>;
  /** Files of the tip of a project's branch. */
  landed(project: string): Promise<readonly string[]>;
  /** Stops the service and looks into its store. */
  storeAfter<T>(look: (store: Store) => Promise<T>): Promise<T>;
}

/** @param change of the nodes before they are stored, for trees with damage. */
export async function putUp(
  tree: GoldenTree,
  change: (nodes: readonly DumpedNode[]) => readonly DumpedNode[] = nodes => nodes,
): Promise<PutUp> {
  const searched = process.env.PATH;
  await using stack = new AsyncDisposableStack();
  const root = await mkdtemp(path.join(tmpdir(), 'gatehouse-golden-'));
  stack.defer(() => rm(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }));
  // Where the tests run as root, jobs run as another user.
  await chmod(root, 0o755);
  await installJob(root, 'exit 0');
  stack.defer(() => {
    process.env.PATH = searched;
  });
  await Promise.all(Object.entries(tree.repositories).map(([name, bundle]) => unbundle(root, name, bundle)));
  const sink = stack.use(await startOtlpSink());
  const settings = await goldenSettings({ root, collector: sink.url });
  const file = path.join(root, 'state/store.sqlite');
  await mkdir(path.dirname(file));
  {
    await using server = openEmbeddedStore({ file });
    await restore(server.connect(), change(tree.nodes), root);
  }
  const log = storyLog();
  const started = await startService(settings, log.log);
  if (started.kind === 'refused') throw new Error(started.errors.join('\n'));
  const { service } = started;
  stack.defer(() => service.close());
  const owned = stack.move();
  return {
    service,
    sink,
    log,
    async finished() {
      const answer = await fetch(`${service.url}/api/tenant/${TENANT}/items?limit=100`);
      const items: readonly Finished[] = answer.ok ? JSON.parse(await answer.text()) : [];
      return items;
    },
    async landed(project) {
      const bare = path.join(root, 'repositories', `${project}.git`);
      return (await runGit(bare, ['ls-tree', '--name-only', 'master'])).toString().trim().split('\n');
    },
    async storeAfter(look) {
      await service.close();
      await using server = openEmbeddedStore({ file });
      return await look(server.connect());
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** `gate A` → `SUCCESS`, one entry per item. */
export function resultsOf(items: readonly Finished[]): Readonly<Record<string, string | null>> {
  return Object.fromEntries(
    items.map(({ pipeline, changes, result }) => [
      `${pipeline} ${changes[0]?.name.replace('master/', '')}`,
      result,
    ]),
  );
}

export async function unbundle(root: string, name: string, bundle: string): Promise<void> {
  const bare = path.join(root, 'repositories', `${name}.git`);
  const file = path.join(root, `${name.replace('/', '-')}.bundle`);
  await mkdir(bare, { recursive: true });
  await writeFile(file, Buffer.from(bundle, 'base64'));
  await runGit(bare, ['init', '--quiet', '--bare', '--template=', '--initial-branch=master']);
  await runGit(bare, ['fetch', '--quiet', file, '+refs/*:refs/*']);
}
