/** The configuration people copy from the documentation is configuration Gatehouse takes. */
import { describe, expect, test } from 'vitest';
import { gitDriver } from '../../../drivers/git/index.ts';
import { readOptions } from '../../../drivers/git/options.ts';
import { buildLayout } from '../../../src/layout/build-layout.ts';
import { freezeJobGraph } from '../../../src/layout/freeze-job-graph.ts';
import { parseCache } from '../../../src/layout/parse-cache.ts';
import { parseFile } from '../../../src/layout/parse-file.ts';
import { parseTenantFile } from '../../../src/layout/tenant-file.ts';
import { optionReader, showOptionProblem } from '../../../src/lib/option-reader.ts';
import { configErrorText } from '../../../src/model/config-error.ts';
import type { BranchConfig } from '../../../src/model/merge.ts';
import { parseCommitId, projectKey } from '../../../src/model/project.ts';
import { parseSettings } from '../../../src/settings/parse-settings.ts';
import { filesBelow, textOf } from './repository-text.ts';

/** The fenced blocks of one language, in order. */
function blocks(file: string, language: string): readonly string[] {
  return [...textOf(file).matchAll(/^```(\w+)\n(.*?)^```$/gms)].flatMap(([, name, body = '']) =>
    name === language ? [body] : [],
  );
}

const CONNECTIONS = new Set(['local']);
const GUIDE = 'doc/guide/first-gate.md';

function tenantsOf(text: string, file: string) {
  const parsed = parseTenantFile(text, file, CONNECTIONS);
  return parsed.kind === 'tenants' ? parsed.tenants : parsed.errors.map(configErrorText);
}

function settingsOf(text: string) {
  return parseSettings({
    content: Buffer.from(text),
    file: 'gatehouse.conf',
    directory: '/etc/gatehouse',
    environment: { GATEHOUSE_WEBHOOK_TOKEN: 'a token' },
  });
}

describe('the first gate', () => {
  const [config = '', app = '', tenants = ''] = blocks(GUIDE, 'yaml');
  const [settings = ''] = blocks(GUIDE, 'ini');

  test('is configured without mistakes', () => {
    const parsed = settingsOf(settings);
    if (parsed.kind === 'invalid') throw new Error(parsed.problems.map(showOptionProblem).join('\n'));
    const [connection] = parsed.settings.connections;
    if (connection === undefined) throw new Error('it has no connection');
    const read = optionReader(connection);
    expect(readOptions(connection.connection, read)?.baseurl).toBe('/srv/git');
    expect(read.finish()).toEqual([]);
  });

  test('runs the job of the example in check and in gate', () => {
    const [tenant] = tenantsOf(tenants, 'tenants.yaml');
    if (tenant === undefined || typeof tenant === 'string') throw new Error(String(tenant));
    const at = (name: string, path: string, text: string): BranchConfig => ({
      project: projectKey({ connection: 'local', name }),
      branch: 'master',
      commit: parseCommitId('1'.repeat(40)),
      files: [{ path, text }],
    });
    const layout = buildLayout({
      tenant,
      configs: [at('acme/config', 'zuul.yaml', config), at('acme/app', '.zuul.yaml', app)],
      languages: new Map([['local', gitDriver.config]]),
      cache: parseCache(),
    });
    expect(layout.errors.map(configErrorText)).toEqual([]);
    expect(layout.pipelines.get('gate')?.manager).toBe('dependent');
    for (const pipeline of ['check', 'gate']) {
      const project = projectKey({ connection: 'local', name: 'acme/app' });
      const outcome = freezeJobGraph({
        layout,
        pipeline,
        change: { project, branch: 'master', files: ['a.c'] },
      });
      expect(outcome.kind === 'frozen' && outcome.jobs.map(job => job.name)).toEqual(['app-unit-tests']);
    }
  });
});

describe('examples', () => {
  const yaml = filesBelow('doc', '.md').flatMap(file => blocks(file, 'yaml').map(text => ({ file, text })));

  test('of tenants are tenant files', () => {
    const tenants = yaml.filter(({ text }) => text.startsWith('- tenant:'));
    expect(tenants.length).toBeGreaterThan(1);
    for (const { file, text } of [...tenants, { file: 'etc/tenants.yaml', text: textOf('etc/tenants.yaml') }])
      expect(tenantsOf(text, file)).toEqual([expect.objectContaining({ maxJobTimeout: expect.any(Number) })]);
  });

  test('of stanzas are stanzas', () => {
    const stanzas = yaml.filter(({ text }) => text.startsWith('- ') && !text.startsWith('- tenant:'));
    expect(stanzas.length).toBeGreaterThan(5);
    for (const { file, text } of stanzas) {
      const parsed = parseFile(text);
      const broken = parsed.stanzas.flatMap(stanza => (stanza.kind === 'broken' ? stanza.problems : []));
      expect({ file, problems: [...parsed.problems, ...broken] }).toEqual({ file, problems: [] });
    }
  });

  test('of triggers are triggers of the git driver', () => {
    const entries = yaml.filter(({ text }) => text.startsWith('trigger:'));
    expect(entries.length).toBeGreaterThan(0);
    for (const { text } of entries) {
      const stanza = parseFile(
        `- pipeline:\n    name: p\n    manager: dependent\n${text.replaceAll(/^/gm, '    ')}`,
      ).stanzas[0];
      expect(stanza?.kind).toBe('pipeline');
    }
  });

  test('of settings are settings', () => {
    const sections = filesBelow('doc', '.md')
      .flatMap(file => blocks(file, 'ini'))
      .filter(text => !text.includes('[Unit]'));
    expect(sections.length).toBeGreaterThan(1);
    for (const text of [...sections, textOf('etc/gatehouse.conf')]) {
      const whole = text.includes('[scheduler]') ? text : `[scheduler]\ntenant_config = t.yaml\n${text}`;
      const parsed = settingsOf(whole);
      expect(parsed.kind === 'invalid' ? parsed.problems.map(showOptionProblem) : []).toEqual([]);
    }
  });
});
