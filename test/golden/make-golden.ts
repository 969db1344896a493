/**
 * Makes the golden store tree of this release, once, when it is made:
 *
 *     node test/golden/make-golden.ts test/golden/store-0.3.json
 *
 * A real installation on a real ZooKeeper is brought to a moment in which every kind of record is there (items in every phase,
 * requests waiting and taken, an intent whose host is away, rows not taken), and its tree is written down. What cannot
 * be caught at such a moment is added by the code that writes it: see planted.ts. A file of an earlier release is never
 * made again: `golden.test.ts` reads it as the stores of that release must be read.
 */
import { createHmac } from 'node:crypto';
import { chmod, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import path from 'node:path';
import { type Service, startService } from '../../src/cmd/service/service.ts';
import { VERSION } from '../../src/cmd/version.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { queueItemCodec } from '../../src/model/codec/records.ts';
import type { QueueItem } from '../../src/model/queue-item.ts';
import { storePaths } from '../../src/store/paths.ts';
import type { Store } from '../../src/store/port.ts';
import { openZooKeeper } from '../../src/store/zookeeper/source.ts';
import { runGit } from '../fake/git-repository.ts';
import { SILENT } from '../fake/silent-log.ts';
import { startZooKeeper } from '../fake/zookeeper/server.ts';
import { createDeveloper, type Developer } from '../scenario/developer.ts';
import { storyLog } from '../scenario/story-log.ts';
import { type DumpedNode, dump, type GoldenTree } from './dump.ts';
import { goldenSettings, installJob, JOB, LAYOUT, PROJECTS, TENANT, TOKEN } from './golden-site.ts';
import { plantedNodes } from './planted.ts';

const LIMIT = 60_000;
const SPAN_ROWS = 12;
const [, , target = 'test/golden/store.json'] = process.argv;
const paths = storePaths('/gatehouse');
const log = storyLog();
let deliveries = 0;
const root = await mkdtemp(path.join(tmpdir(), 'gatehouse-golden-'));
await chmod(root, 0o755);
await mkdir(path.join(root, 'flags'));
await chmod(path.join(root, 'flags'), 0o755);
await installJob(
  root,
  'case "$ZUUL_CHANGE $ZUUL_JOB" in',
  '  "master/B quick") [ "$ZUUL_PIPELINE" = check ]; exit ;;',
  '  "master/A slow"|"master/C slow") exec sleep 600 ;;',
  `  "master/N quick"|"master/E slow") until [ -e ${root}/flags/"\${ZUUL_CHANGE#master/}" ]; do sleep 0.1; done ;;`,
  'esac',
);
await using server = await startZooKeeper();
await using source = openZooKeeper({
  hosts: [{ host: server.host, port: server.port }],
  sessionTimeoutMs: 10_000,
  auth: undefined,
  tls: undefined,
  clock: systemClock(),
  log: SILENT,
  random: Math.random,
});
const store = await source.connect('golden');
const tree = await make();
await writeFile(target, textOf(tree));
process.stdout.write(`${target}: ${tree.nodes.length} nodes\n`);
await rm(root, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }).catch(() => {}); // killed jobs may still be leaving
process.exit(0); // what still runs is meant to die with us

/** One node per line, so that differences show; without the name of this machine. */
function textOf({ release, nodes, repositories }: GoldenTree): string {
  const lines = nodes.map(node => JSON.stringify(node)).join(',\n');
  const text = `{"release":${JSON.stringify(release)},"nodes":[\n${lines}\n],\n"repositories":${JSON.stringify(repositories)}}\n`;
  return text.replaceAll(`"${hostname()}"`, '"ci1"').replaceAll(`/${hostname()}-`, '/ci1-');
}

async function make(): Promise<GoldenTree> {
  const developers = new Map<string, Developer>();
  for (const name of PROJECTS) {
    const files =
      name === 'org/config' ? { 'zuul.yaml': LAYOUT, 'playbooks/job.sh': JOB } : { README: `${name}\n` };
    developers.set(name, await createDeveloper(root, name, files, path.join(root, 'hook-calls')));
  }
  const settings = await goldenSettings({ root, zookeeper: [`hosts = ${server.host}:${server.port}`] });
  const start = async (...components: Parameters<typeof startService>[2] & {}) => {
    const started = await startService(settings, log.log, components);
    if (started.kind === 'refused') throw new Error(started.errors.join('\n'));
    return started.service;
  };
  const web = await start('web');
  const merger = await start('merger');
  const executor = await start('executor');
  const scheduler = await start('scheduler');
  await Promise.all([web.ready, merger.ready, executor.ready, scheduler.ready]);
  await until(
    'the first looks',
    async () => (await store.children(paths.connection('local').memory))?.length === 4,
  );

  const commits = new Map<string, string>();
  const push = async (project: string, topic: string, prefix: 'for' | 'gate') => {
    const developer = developers.get(project);
    if (developer === undefined) throw new Error(project);
    const files = { [`${topic}.txt`]: `${topic}\n` };
    const commit = commits.get(topic) ?? (await developer.commit({ files, message: `Change ${topic}` }));
    commits.set(topic, commit);
    await developer.push(commit, `refs/heads/${prefix}/master/${topic}`);
  };
  const announce = (project: string) => deliver(web, project);
  const proposed = async (project: string, topic: string) => {
    await push(project, topic, 'for');
    await announce(project);
    await until(
      `${topic} in check`,
      async () => (await item('check', topic)) !== undefined || (await isChecked(topic)),
    );
  };
  const checked = new Set<string>();
  const isChecked = async (topic: string) => {
    const done = await fetch(`${web.url}/api/tenant/${TENANT}/items?limit=100`).then(answer => answer.text());
    if (done.includes(`"master/${topic}"`)) checked.add(topic); // nothing left the gate yet
    return checked.has(topic);
  };
  for (const topic of ['A', 'B', 'C', 'D']) await proposed('org/project', topic);
  await proposed('org/project1', 'E');
  await proposed('org/project2', 'M');
  for (const topic of ['A', 'B', 'C', 'D', 'E', 'M']) await until(`${topic} checked`, () => isChecked(topic));
  for (const topic of ['A', 'B', 'C', 'D']) {
    await push('org/project', topic, 'gate');
    await announce('org/project');
    await until(`${topic} in gate`, async () => (await item('gate', topic)) !== undefined);
  }
  await until('C to be tested again and to run', async () => {
    const found = await item('gate', 'C');
    return (found?.earlier.length ?? 0) > 0 && isRunning(found, 'slow');
  });
  await until('A to run', async () => isRunning(await item('gate', 'A'), 'slow'));
  await push('org/project1', 'E', 'gate');
  await announce('org/project1');
  await until('E to run', async () => isRunning(await item('gate', 'E'), 'slow'));
  await proposed('org/project2', 'N');
  await until('N to run', async () => isRunning(await item('check', 'N'), 'quick'));
  const complete = await dump(store, paths.allComponents, root);

  // From here on no merger and no history runs, and the host of org/project1 is away.
  await merger.close();
  await push('org/project2', 'M', 'gate');
  await announce('org/project2');
  await until(
    'M to wait for a merger',
    async () => (await item('gate', 'M'))?.buildset.stage.state === 'merging',
  );
  await web.close();
  await rename(path.join(root, 'repositories/org/project1.git'), path.join(root, 'away.git'));
  for (const topic of ['E', 'N']) await writeFile(path.join(root, 'flags', topic), '');
  await until('E to be reported', async () => (await item('gate', 'E'))?.phase.phase === 'reporting');
  await until('N to have left', async () => (await item('check', 'N')) === undefined);
  await until('history to wait', async () => ((await store.children(paths.historyOutbox))?.length ?? 0) > 0);
  const whole = await dump(store, paths.root, root);
  await rename(path.join(root, 'away.git'), path.join(root, 'repositories/org/project1.git'));
  // A change that only the planted event announces.
  await push('org/project2', 'Z', 'for');
  const planted = plantedNodes(whole, { tenant: TENANT, paths, store });
  return {
    release: VERSION,
    nodes: merged([...fewSpans(whole), ...planted, ...complete.filter(node => node.ephemeral === true)]),
    repositories: Object.fromEntries(
      await Promise.all(PROJECTS.map(async name => [name, await bundle(developers.get(name)?.bare ?? '')])),
    ),
  };
}

/** Of the many rows of spans, the last: they are all alike. */
function fewSpans(nodes: readonly DumpedNode[]): readonly DumpedNode[] {
  const rows = nodes.filter(node => node.path.startsWith(`${paths.spanOutbox}/`));
  const kept = new Set(
    rows.toSorted((a, b) => a.path.slice(-10).localeCompare(b.path.slice(-10))).slice(-SPAN_ROWS),
  );
  return nodes.filter(node => !node.path.startsWith(`${paths.spanOutbox}/`) || kept.has(node));
}

function merged(nodes: readonly DumpedNode[]): readonly DumpedNode[] {
  const byPath = new Map(nodes.map(node => [node.path, node]));
  return [...byPath.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

async function bundle(bare: string): Promise<string> {
  const data = await runGit(bare, ['bundle', 'create', '--quiet', '-', '--all']);
  return data.toString('base64');
}

async function item(pipeline: string, topic: string): Promise<QueueItem | undefined> {
  const base = paths.pipeline(TENANT, pipeline).items;
  const names = (await store.children(base)) ?? [];
  const nodes = await (store as Store).getMany(names.map(name => `${base}/${name}`));
  return nodes
    .flatMap(node => (node === undefined ? [] : [queueItemCodec.decode(node.data)]))
    .find(({ changes: [change] }) => change.kind === 'change' && change.id === `master/${topic}`);
}

function isRunning(found: QueueItem | undefined, job: string): boolean {
  return found?.buildset.builds.some(build => build.job === job && build.state.state === 'started') === true;
}

async function deliver(web: Service, project: string): Promise<void> {
  deliveries += 1;
  const body = JSON.stringify({ project });
  const signature = createHmac('sha256', TOKEN).update(body).digest('hex');
  const answer = await fetch(`${web.url}/api/connection/local/payload`, {
    method: 'POST',
    body,
    headers: {
      'Content-Type': 'application/json',
      'X-Gatehouse-Delivery': `golden-${deliveries}`,
      'X-Gatehouse-Signature': `sha256=${signature}`,
    },
  });
  if (!answer.ok) throw new Error(`the webhook was refused: ${await answer.text()}`);
}

async function until(what: string, met: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + LIMIT;
  while (!(await met())) {
    if (performance.now() > end) throw new Error(`not within ${LIMIT} ms: ${what}\n${log.tail()}`);
    await new Promise(resolve => setTimeout(resolve, 50));
  }
}
