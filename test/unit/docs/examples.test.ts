/** The configuration people copy from the documentation is configuration Gatehouse takes. */
import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { gitDriver } from '../../../drivers/git/index.ts';
import { readOptions } from '../../../drivers/git/options.ts';
import { githubDriver } from '../../../drivers/github/index.ts';
import { readGithubOptions } from '../../../drivers/github/options.ts';
import { APP_PERMISSIONS } from '../../../drivers/github/permissions.ts';
import {
  CONFIG_PROJECT_FILES,
  EXAMPLE_FILES,
  settingsText,
  tenantsText,
} from '../../../src/cmd/init/first-files.ts';
import { buildLayout } from '../../../src/layout/build/build-layout.ts';
import { freezeJobGraph } from '../../../src/layout/freeze/freeze-job-graph.ts';
import { parseCache } from '../../../src/layout/stanzas/parse-cache.ts';
import { parseFile } from '../../../src/layout/stanzas/parse-file.ts';
import { parseTenantFile } from '../../../src/layout/tenant/tenant-file.ts';
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

const CONNECTIONS = new Map(['local', 'github', 'gerrit'].map(name => [name, name]));
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

  test('has the files that gatehouse init writes', () => {
    expect(config).toBe(CONFIG_PROJECT_FILES.find(({ path }) => path === 'zuul.yaml')?.text);
    expect(app).toBe(EXAMPLE_FILES.find(({ path }) => path === '.zuul.yaml')?.text);
    expect(tenants).toBe(tenantsText('main', 'config', ['acme/app', 'acme/library']));
    const places = { stateDirectory: '/srv/gate/state', repositories: '/srv/git' };
    expect(settings).toBe(settingsText({ ...places, port: 9000, token: '7d0f5e…' }));
  });

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
      configs: [at('config', 'zuul.yaml', config), at('acme/app', '.zuul.yaml', app)],
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

describe('the GitHub tutorial', () => {
  const file = 'doc/tutorials/github.md';
  const [tenants = '', config = '', mergeGroups = ''] = blocks(file, 'yaml');
  const [settings = ''] = blocks(file, 'ini');

  test('configures a GitHub App without mistakes', () => {
    const parsed = settingsOf(settings);
    if (parsed.kind === 'invalid') throw new Error(parsed.problems.map(showOptionProblem).join('\n'));
    const [connection] = parsed.settings.connections;
    if (connection === undefined) throw new Error('it has no connection');
    const read = optionReader(connection);
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const key = privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
    const options = readGithubOptions(read, path => (path.endsWith('.pem') ? key : 'a token'));
    expect(options).toMatchObject({ server: 'github.com', landing: 'push' });
    expect(read.finish()).toEqual([]);
  });

  test('has pipelines that the GitHub driver takes', () => {
    const [tenant] = tenantsOf(tenants, file);
    if (tenant === undefined || typeof tenant === 'string') throw new Error(String(tenant));
    const layout = buildLayout({
      tenant,
      configs: [
        {
          project: projectKey({ connection: 'github', name: 'acme/config' }),
          branch: 'main',
          commit: parseCommitId('1'.repeat(40)),
          files: [{ path: 'zuul.yaml', text: config }],
        },
      ],
      languages: new Map([['github', githubDriver.config]]),
      cache: parseCache(),
    });
    expect(layout.errors.map(configErrorText)).toEqual([]);
    expect([...layout.pipelines.keys()]).toEqual(['check', 'gate']);
  });

  test('lists the permissions that the App gets', () => {
    const rows = APP_PERMISSIONS.map(({ name, level, why }) => `| \`${name}\` | ${level} | ${why} |`);
    expect(textOf(file)).toContain(rows.join('\n'));
  });

  test('triggers on merge groups in the words of the driver', () => {
    const trigger = parseFile(`- pipeline:\n    name: p\n    manager: independent\n${mergeGroups}`);
    expect(trigger.problems).toEqual([]);
    expect(githubDriver.config.parseTrigger({ event: 'merge_group' }).kind).toBe('ok');
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
