/**
 * `npm run bench [name...]`: measures what `doc/reference/benchmarks.md` explains. Each benchmark runs in a process of its own,
 * says which file system it used, checks an oracle, and prints ratios with absolute figures. Times differ per machine;
 * counts (merges, fetches, transactions, bytes) do not.
 */
import { spawnSync } from 'node:child_process';
import { cpus, release } from 'node:os';
import path from 'node:path';

export interface Row {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
}

/** Rows at its end, or each as soon as it is known. */
type Benchmark = () => Promise<readonly Row[] | AsyncIterable<Row>>;

const BENCHMARKS: { readonly [name: string]: Benchmark } = {
  async merge() {
    const { benchMergeChain } = await import('./merge-chain.ts');
    const { queue, ...figures } = await benchMergeChain();
    if (!figures.equalsPlainGit) throw new Error('the merge chain does not equal plain git');
    return [
      {
        name: `one speculative merge of ${figures.files} files on ${figures.fileSystem}, p50`,
        value: figures.p50,
        unit: 'ms',
      },
      { name: 'one speculative merge, p95', value: figures.p95, unit: 'ms' },
      { name: 'plain git merge in a work tree, p50', value: figures.plainP50, unit: 'ms' },
      { name: 'plain git takes', value: figures.ratio, unit: 'times as long' },
      { name: 'chain of 100 (same commit ids as plain git)', value: figures.total, unit: 'ms' },
      { name: 'queue of 20: merges', value: queue.merges, unit: 'merges' },
      { name: 'queue of 20: fetches', value: queue.fetches, unit: 'fetches' },
      { name: 'queue of 20: processes started', value: queue.spawns, unit: 'processes' },
      { name: 'queue of 20: all', value: queue.ms, unit: 'ms' },
    ];
  },
  history: async () => (await import('./history.ts')).benchHistory(),
  layout: async () => (await import('./layout.ts')).benchLayout(),
  store: async () => (await import('./store.ts')).benchStore(),
  reset: async () => (await import('./gate-reset.ts')).benchGateReset(),
  durable: async () => (await import('./durable-reset.ts')).benchDurableReset(),
  takeover: async () => (await import('./takeover.ts')).benchTakeover(),
  spans: async () => (await import('./spans.ts')).benchSpans(),
  executor: async () => (await import('./executor.ts')).benchExecutor(),
  latency: async () => (await import('./push-latency.ts')).benchPushLatency(),
  burst: async () => (await import('./burst.ts')).benchBurst(),
  gate: async () => (await import('./gate.ts')).benchGate(),
  hosts: async () => (await import('./hosts.ts')).benchHosts(),
  queue: async () => (await import('./queue.ts')).benchQueue(),
  status: async () => (await import('./status.ts')).benchStatus(),
  schedulers: async () => (await import('./schedulers.ts')).benchSchedulers(),
  tenants: async () => (await import('./tenants.ts')).benchTenants(),
  webhook: async () => (await import('./webhook.ts')).benchWebhook(),
  github: async () => (await import('./github.ts')).benchGithub(),
  gerrit: async () => (await import('./gerrit.ts')).benchGerrit(),
  zookeeper: async () => (await import('./zookeeper.ts')).benchZooKeeper(),
};

const [, , first, ...rest] = process.argv;
if (first === '--run') await runHere(rest[0] ?? '');
else process.exitCode = runAll(first === undefined ? Object.keys(BENCHMARKS) : [first, ...rest]);

async function runHere(name: string): Promise<void> {
  const benchmark = BENCHMARKS[name];
  if (benchmark === undefined)
    throw new Error(`no benchmark "${name}"; there are: ${Object.keys(BENCHMARKS).join(', ')}`);
  for await (const { name: what, value, unit } of await benchmark()) {
    process.stdout.write(`  ${what.padEnd(72)} ${figure(value).padStart(10)} ${unit}\n`);
  }
  process.exit(0);
}

function runAll(names: readonly string[]): number {
  process.stdout.write(
    `${cpus().length} cores (${cpus()[0]?.model ?? 'unknown'}), Linux ${release()}, Node ${process.version}\n`,
  );
  const failed = names.filter(name => {
    process.stdout.write(`\n${name}\n`);
    const run = spawnSync(process.execPath, [path.join(import.meta.dirname, 'main.ts'), '--run', name], {
      stdio: 'inherit',
    });
    return run.status !== 0;
  });
  if (failed.length > 0) process.stderr.write(`\nfailed: ${failed.join(', ')}\n`);
  return failed.length === 0 ? 0 : 1;
}

function figure(value: number): string {
  if (Number.isInteger(value)) return value.toLocaleString('en');
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}
