/** Texts of the files that `gatehouse init` writes. Pure. */
import { CONNECTION, type DemoFile } from '../quickstart/demo-files.ts';
import { CHECK_AND_GATE } from './git-pipelines.ts';

/** The branch of the config project. */
export const CONFIG_BRANCH = 'master';

/** What the settings depend on; paths are absolute. */
export interface FirstSettings {
  readonly stateDirectory: string;
  /** Directory below which the repositories are. */
  readonly repositories: string;
  readonly port: number;
  /** Signs notifications of hooks. */
  readonly token: string;
}

/** Holds the token: for its owner alone. */
export function settingsText({ stateDirectory, repositories, port, token }: FirstSettings): string {
  return `# Written by "gatehouse init". All options: doc/reference/settings.md.
[scheduler]
tenant_config = tenants.yaml
state_dir = ${stateDirectory}

[web]
port = ${port}
# Address that people use, for links in reports:
# root = https://gate.example.org

[connection ${CONNECTION}]
driver = git
baseurl = ${repositories}
proposals = for/{branch}/{topic}
webhook_token = ${token}
`;
}

/** @param projects those that are gated, besides the config project. */
export function tenantsText(tenant: string, configProject: string, projects: readonly string[]): string {
  return [
    '- tenant:',
    `    name: ${tenant}`,
    '    source:',
    `      ${CONNECTION}:`,
    '        config-projects:',
    `          - ${configProject}`,
    `        untrusted-projects:${projects.length === 0 ? ' []' : ''}`,
    ...projects.map(project => `          - ${project}`),
    '',
  ].join('\n');
}

/** Content of the config project. */
export const CONFIG_PROJECT_FILES: readonly DemoFile[] = [
  {
    path: 'zuul.yaml',
    text: [
      ...CHECK_AND_GATE,
      '- job:',
      '    name: base',
      '    abstract: true',
      '    description: What all jobs share.',
      '    timeout: 1800',
      '',
    ].join('\n'),
  },
];

/** To be copied into a repository: its first job. */
export const EXAMPLE_FILES: readonly DemoFile[] = [
  {
    path: '.zuul.yaml',
    text: `- job:
    name: app-unit-tests
    run: tests/unit.sh

- project:
    check:
      jobs: [app-unit-tests]
    gate:
      jobs: [app-unit-tests]
`,
  },
  {
    path: 'tests/unit.sh',
    text: `#!/bin/sh
# Exit status 0: the change may land.
set -eu
echo "put the tests of $ZUUL_PROJECT here, e.g. make test or npm test"
`,
    executable: true,
  },
];

/** What a unit of systemd starts; paths are absolute. */
export interface UnitFacts {
  /** Words without blanks, e.g. Node and the program. */
  readonly command: readonly string[];
  readonly config: string;
  readonly user: string;
  /** Absent: all of them in one service. */
  readonly component?: string;
  /** Further lines of its section `[Service]`. */
  readonly more?: readonly string[];
}

/** Of one component, or of all. */
export function unitText({ command, config, user, component, more = [] }: UnitFacts): string {
  const components = component === undefined ? [] : [component];
  const words = [...command, 'start', ...components, '-c', config].map(unitWord);
  return `[Unit]
Description=Gatehouse ${component ?? 'project gate'}
After=network-online.target
Wants=network-online.target

[Service]
User=${user}
${[`ExecStart=${words.join(' ')}`, ...more].join('\n')}
Restart=on-failure
KillMode=mixed
TimeoutStopSec=30
# Jobs run within this unit: these are their limits too.
# MemoryMax=8G
# CPUQuota=400%

[Install]
WantedBy=multi-user.target
`;
}

/** As systemd reads it: `%` and `$` have a meaning there. */
function unitWord(word: string): string {
  const plain = word.replaceAll('%', '%%').replaceAll('$', '$$$$');
  return /^[\w./%$@:+=-]+$/.test(plain) ? plain : `"${plain.replaceAll(/["\\]/g, '\\$&')}"`;
}
