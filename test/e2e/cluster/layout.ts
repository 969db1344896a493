/** What the tenant of a cluster is configured to do: one shared queue, two projects, short jobs that fail by what files there are. */
import { gateYaml, QUEUE_YAML } from '../../fake/layout-text.ts';
import type { Files } from './repositories.ts';

export const TENANT = 'acme';
export const CONNECTION = 'local';
export const CONFIG_PROJECT = 'org/config';
export const PROJECTS = ['org/one', 'org/two'] as const;

/** Seconds a job takes, at least: long enough for something to happen to it. */
const WORK = 0.4;

/** Of the job that another one is paused for: long enough to see both, and shorter than a session that ends. */
const USE = 3;

export const CONFIG_FILES: Files = {
  'zuul.yaml': `${gateYaml({ notes: ['failure', 'merge-conflict'] })}${QUEUE_YAML}
- job:
    name: base
    abstract: true
    timeout: 60

- job:
    name: unit
    parent: base
    run: playbooks/unit.sh

- job:
    name: integration
    parent: base
    run: playbooks/integration.sh
    required-projects: [org/one, org/two]

- job:
    name: registry
    parent: base
    run: playbooks/registry.sh
    files: [paused.txt]

- job:
    name: user
    parent: base
    run: playbooks/user.sh
    files: [paused.txt]

- project:
    name: org/one
    queue: integrated
    gate:
      jobs: [unit, registry, user: {dependencies: [registry]}]

- project:
    name: org/two
    queue: integrated
    gate:
      jobs: [unit, integration]
`,
  'playbooks/unit.sh': `#!/bin/sh
set -eu
sleep ${WORK}
[ ! -e broken.txt ] || { echo "this is broken"; exit 1; }
`,
  'playbooks/registry.sh': `#!/bin/sh
gatehouse return '{"zuul": {"pause": true}}'
`,
  'playbooks/user.sh': `#!/bin/sh
sleep ${USE}
`,
  'playbooks/integration.sh': `#!/bin/sh
set -eu
ls ../one ../two
sleep ${WORK}
`,
};

export const PROJECT_FILES: Files = { 'README.md': 'A project.\n' };
