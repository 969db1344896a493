/** Initial content of the demo's repositories: `acme/app` prices a shopping basket, `acme/api` serves it. */
import { CHECK_AND_GATE } from '../init/git-pipelines.ts';

/** A file of a repository; it replaces one of the same path. */
export interface DemoFile {
  /** From the root of the repository. */
  readonly path: string;
  readonly text: string;
  readonly executable?: boolean;
}

const script = (path: string, ...lines: readonly string[]): DemoFile => ({
  path,
  text: `#!/bin/sh\n${lines.join('\n')}\n`,
  executable: true,
});
/** A file of these lines, which nothing executes. */
export const textFile = (path: string, ...lines: readonly string[]): DemoFile => ({
  path,
  text: `${lines.join('\n')}\n`,
});

/** The demo's only tenant. */
export const TENANT = 'acme';
/** The demo's only connection, of driver `git`. */
export const CONNECTION = 'local';
/** The only config-project; its content is {@link CONFIG_FILES}. */
export const CONFIG_PROJECT = 'acme/config';
/** Gated together with {@link API}, whose job checks it out as well. */
export const APP = 'acme/app';
/** Shares the change queue `integrated` with {@link APP}. */
export const API = 'acme/api';

/** Pipelines check, gate and post of the demo at a directory of repositories. */
const GIT_PIPELINES: readonly string[] = [
  ...CHECK_AND_GATE,
  '- pipeline:',
  '    name: post',
  '    description: Runs after a change has merged.',
  '    manager: independent',
  '    precedence: low',
  '    post-review: true',
  '    trigger:',
  '      local:',
  '        - event: ref-updated',
  '          ref: ^refs/heads/master$',
  '',
];

/** The config project: pipelines, the queue of both projects, and the jobs that theirs inherit from. */
export function configFiles(pipelines: readonly string[]): readonly DemoFile[] {
  return [
    textFile(
      'zuul.yaml',
      '# Pipelines and base jobs of the demo. A change here takes effect when it is merged.',
      ...pipelines,
      '',
      '- queue:',
      '    name: integrated',
      '',
      '- job:',
      '    name: base',
      '    abstract: true',
      '    description: Prints what is tested before every job, and cleans up after it.',
      '    pre-run: playbooks/describe.sh',
      '    post-run: playbooks/collect.sh',
      '    timeout: 60',
      '',
      '- job:',
      '    name: publish',
      '    parent: base',
      '    run: playbooks/publish.sh',
    ),
    script(
      'playbooks/describe.sh',
      'set -eu',
      'echo "testing $ZUUL_PROJECT for job $ZUUL_JOB, attempt $ZUUL_ATTEMPT"',
      'ls',
    ),
    script('playbooks/collect.sh', 'set -eu', 'echo "the run phase ended, success: $ZUUL_SUCCESS"'),
    script(
      'playbooks/publish.sh',
      'set -eu',
      'tar -cf "$TMPDIR/release.tar" .',
      'echo "would publish $(wc -c < "$TMPDIR/release.tar") bytes of $ZUUL_PROJECT at $(git rev-parse --short HEAD)"',
    ),
  ];
}

/** Of the demo at a directory of repositories. */
export const CONFIG_FILES: readonly DemoFile[] = configFiles(GIT_PIPELINES);

/** In the gate its tests sleep 3 s, so that all changes are queued when one fails. */
export const APP_FILES: readonly DemoFile[] = [
  textFile('README.md', '# app', '', 'Prices a shopping basket.'),
  textFile(
    'lib/price.sh',
    '# Prices are whole cents.',
    '# total: the sum of its arguments',
    'total() {',
    '  sum=0',
    '  for each in "$@"; do sum=$((sum + each)); done',
    '  echo "$sum"',
    '}',
  ),
  textFile('lib/basket.sh', '. ./lib/price.sh', 'basket_price() { total "$@"; }'),
  script(
    'tests/unit.sh',
    'set -eu',
    '# The gate is thorough, and slow enough that all changes are in it when one of them fails.',
    'if [ "$ZUUL_PIPELINE" = gate ]; then sleep 3; fi',
    'for test in tests/unit.d/*.sh; do',
    '  echo "== $test"',
    '  sh -eu "$test" || { echo "FAILED: $test"; exit 1; }',
    'done',
    'echo "all unit tests passed"',
  ),
  textFile('tests/unit.d/basket.sh', '. ./lib/basket.sh', '[ "$(basket_price 100 250)" = 350 ]'),
  script(
    'tests/integration.sh',
    'set -eu',
    '# Simulates a slow suite that starts, queries and stops a service.',
    'sleep 1.5',
    '. ./lib/basket.sh',
    'basket_price 1 2 3',
  ),
  textFile(
    '.zuul.yaml',
    '- job:',
    '    name: app-unit-tests',
    '    parent: base',
    '    run: tests/unit.sh',
    '',
    '- job:',
    '    name: app-integration-tests',
    '    parent: base',
    '    run: tests/integration.sh',
    '',
    '- project:',
    '    queue: integrated',
    '    check:',
    '      jobs: [app-unit-tests]',
    '    gate:',
    '      jobs: [app-unit-tests, app-integration-tests]',
    '    post:',
    '      jobs: [publish]',
  ),
];

/** In the gate its test sleeps 3.5 s, longer than those of app. */
export const API_FILES: readonly DemoFile[] = [
  textFile('README.md', '# api', '', 'Serves the prices of app.'),
  textFile('routes.txt', 'GET /price', 'GET /health'),
  script(
    'tests/routes.sh',
    'set -eu',
    'grep -q "^GET /health$" routes.txt',
    'if [ "$ZUUL_PIPELINE" = gate ]; then sleep 3.5; fi',
    '[ -d ../app ] && echo "app is checked out beside us: $(git -C ../app rev-parse --short HEAD)"',
  ),
  textFile(
    '.zuul.yaml',
    '- job:',
    '    name: api-contract-tests',
    '    parent: base',
    '    run: tests/routes.sh',
    '    required-projects: [acme/app]',
    '',
    '- project:',
    '    queue: integrated',
    '    check:',
    '      jobs: [api-contract-tests]',
    '    gate:',
    '      jobs: [api-contract-tests]',
    '    post:',
    '      jobs: [publish]',
  ),
];
