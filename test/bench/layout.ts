/**
 * How long a large tenant's layout takes: at first, for a proposal that changes the configuration of one repository, for a hundred tenants of
 * the same projects, and with a thousand mistakes. Processor time of the thread, which other load does not distort as much as times.
 */
import { gitDriver } from '../../drivers/git/index.ts';
import { buildLayout, type LayoutInput } from '../../src/layout/build/build-layout.ts';
import { speculativeLayout } from '../../src/layout/build/speculative-layout.ts';
import { parseCache } from '../../src/layout/stanzas/parse-cache.ts';
import { parseFile } from '../../src/layout/stanzas/parse-file.ts';
import { configOf, largeConfigs, largeTenant, repositoryText } from '../fake/many-jobs.ts';
import type { Row } from './main.ts';

const REPOSITORIES = 100;
const JOBS = 30;
const TENANTS = 100;
const PROPOSALS = 100;
const MISTAKES = 1000;

export async function benchLayout(): Promise<readonly Row[]> {
  return [...firstAndProposals(), ...manyTenants(), ...manyMistakes()];
}

function firstAndProposals(): readonly Row[] {
  const { input, files } = inputWith(largeConfigs(REPOSITORIES, JOBS));
  const first = timed(() => buildLayout(input));
  expectThat(first.value.errors.length === 0, 'the large tenant has errors');
  const parsed = files();
  const costs = Array.from({ length: PROPOSALS }, (_, index) => {
    const text = `${repositoryText(index + 1, JOBS)}- job: {name: proposed}\n`;
    const { ms, value } = timed(() => speculativeLayout(input, first.value, [configOf(index + 1, text)]));
    expectThat(value.errors.length === 0 && value.layout.jobs.has('proposed'), 'a proposal has no effect');
    return ms;
  }).toSorted((a, b) => a - b);
  return [
    { name: `first layout of ${first.value.jobs.size} jobs in ${parsed} files`, value: first.ms, unit: 'ms' },
    { name: 'layout of a proposal that changes one file, p50', value: costs[PROPOSALS / 2] ?? 0, unit: 'ms' },
    { name: 'layout of a proposal, p95', value: costs[Math.floor(PROPOSALS * 0.95)] ?? 0, unit: 'ms' },
    { name: 'files parsed for each proposal', value: (files() - parsed) / PROPOSALS, unit: 'files' },
  ];
}

function manyTenants(): readonly Row[] {
  const { input, files } = inputWith(largeConfigs(REPOSITORIES, JOBS));
  const all = timed(() => {
    for (let index = 0; index < TENANTS; index++) {
      const configs = largeConfigs(REPOSITORIES, JOBS);
      const { jobs } = buildLayout({
        ...input,
        tenant: largeTenant(`tenant-${index}`, REPOSITORIES),
        configs,
      });
      expectThat(jobs.size === REPOSITORIES * JOBS + 1, 'a tenant lacks jobs');
    }
  });
  return [
    {
      name: `${TENANTS} tenants of the same projects in one thread, each`,
      value: all.ms / TENANTS,
      unit: 'ms',
    },
    { name: 'files parsed for all of them', value: files(), unit: 'files' },
  ];
}

function manyMistakes(): readonly Row[] {
  const [config] = largeConfigs(0, 0);
  expectThat(config !== undefined, 'no config-project');
  const misspelt = repositoryText(1, MISTAKES, job => `repository-1-jbo-${job}`);
  const { input } = inputWith([config, configOf(1, misspelt)], 1);
  const { ms, value } = timed(() => buildLayout(input));
  expectThat(value.errors.length === 2 * MISTAKES, 'mistakes are missing');
  return [
    { name: `layout of ${MISTAKES} jobs, each listed misspelt in two pipelines`, value: ms, unit: 'ms' },
  ];
}

function inputWith(
  configs: LayoutInput['configs'],
  repositories = REPOSITORIES,
): { readonly input: LayoutInput; readonly files: () => number } {
  let count = 0;
  const cache = parseCache(10_000, text => {
    count += 1;
    return parseFile(text);
  });
  const languages = new Map([['git', gitDriver.config]]);
  return {
    input: { tenant: largeTenant('large', repositories), configs, languages, cache },
    files: () => count,
  };
}

function timed<T>(work: () => T): { readonly ms: number; readonly value: T } {
  const before = process.threadCpuUsage();
  const value = work();
  const { user, system } = process.threadCpuUsage(before);
  return { ms: (user + system) / 1000, value };
}

function expectThat(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new Error(otherwise);
}
