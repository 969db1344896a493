/** What a large tenant's layouts have to read again, counted: times would depend on the machine. `npm run bench layout` has them. */
import { describe, expect, test } from 'vitest';
import { buildLayout, type LayoutInput } from '../../../src/layout/build/build-layout.ts';
import { speculativeLayout } from '../../../src/layout/build/speculative-layout.ts';
import { parseCache } from '../../../src/layout/stanzas/parse-cache.ts';
import { parseFile } from '../../../src/layout/stanzas/parse-file.ts';
import { configOf, largeConfigs, largeTenant, repositoryText } from '../../fake/many-jobs.ts';
import { LANGUAGE } from './fixture.ts';

const REPOSITORIES = 20;
const JOBS = 10;

function large(): { readonly input: LayoutInput; readonly parsed: string[] } {
  const parsed: string[] = [];
  const cache = parseCache(10_000, text => {
    parsed.push(text);
    return parseFile(text);
  });
  const languages = new Map([['git', LANGUAGE]]);
  const configs = largeConfigs(REPOSITORIES, JOBS);
  return { input: { tenant: largeTenant('large', REPOSITORIES), configs, languages, cache }, parsed };
}

describe('of a tenant with many repositories', () => {
  test('the first layout parses each file once', () => {
    const { input, parsed } = large();
    const layout = buildLayout(input);
    expect(layout.errors).toEqual([]);
    expect(layout.jobs.size).toBe(REPOSITORIES * JOBS + 1);
    expect(parsed).toHaveLength(REPOSITORIES + 1);
  });

  test('a proposal parses only the file that it changes', () => {
    const { input, parsed } = large();
    const layout = buildLayout(input);
    parsed.length = 0;
    const text = `${repositoryText(7, JOBS)}- job: {name: proposed}\n`;
    const proposal = speculativeLayout(input, layout, [configOf(7, text)]);
    expect(proposal.layout.jobs.has('proposed')).toBe(true);
    expect(parsed).toEqual([text]);
    speculativeLayout(input, layout, [configOf(7, text)]);
    expect(parsed).toHaveLength(1);
  });

  test('a proposal of a config-project parses it once, although it is looked at with and without the proposal', () => {
    const { input, parsed } = large();
    const layout = buildLayout(input);
    parsed.length = 0;
    const { errors } = speculativeLayout(input, layout, [configOf(0, '- job: {name: base, parent: null}\n')]);
    // Pipelines are gone, which leaves what projects list without effect.
    expect(new Set(errors.map(({ severity, code }) => `${severity} ${code}`))).toEqual(
      new Set(['warning unknown-pipeline']),
    );
    expect(parsed).toHaveLength(1);
  });

  test('a hundred tenants with the same projects share what was parsed', () => {
    const { input, parsed } = large();
    for (let index = 0; index < 100; index++) {
      const tenant = largeTenant(`tenant-${index}`, REPOSITORIES);
      // Another reading of the same files: equal texts in other objects.
      const { jobs } = buildLayout({ ...input, tenant, configs: largeConfigs(REPOSITORIES, JOBS) });
      expect(jobs.size).toBe(REPOSITORIES * JOBS + 1);
    }
    expect(parsed).toHaveLength(REPOSITORIES + 1);
  });

  test('a thousand mistakes are all reported, the first of them with a hint', () => {
    const { input } = large();
    const misspelt = repositoryText(1, 500, job => `repository-1-jbo-${job}`);
    const { errors } = buildLayout({
      ...input,
      configs: [...input.configs.filter((_, index) => index !== 1), configOf(1, misspelt)],
    });
    expect(errors).toHaveLength(1000);
    expect(errors[0]?.text).toContain('did you mean "repository-1-job-0"?');
  });
});
