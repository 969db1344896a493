/** What a newcomer can try when the demo at a directory of repositories is done: scripts that show the git commands they run. Pure. */
import type { DemoFile } from './demo-files.ts';

/** @property file in the folder `try` of the demo; its path there counts for the clones. */
export interface ThingToTry {
  readonly file: DemoFile;
  readonly what: string;
}

/** In their order: the second needs the first. */
export const THINGS_TO_TRY: readonly ThingToTry[] = [
  {
    what: 'break a test: the change fails in the gate, and nothing lands',
    file: script(
      'break-a-test.sh',
      'app',
      'git switch --quiet --force-create mine origin/master',
      'echo "exit 1" >tests/unit.d/mine.sh',
      'git add tests/unit.d/mine.sh',
      'git commit --quiet --message "Add a test that fails"',
      ...pushes('mine'),
    ),
  },
  {
    what: 'push a fix: the next patchset of that change passes and lands',
    file: script(
      'push-a-fix.sh',
      'app',
      'git switch --quiet mine',
      'echo "exit 0" >tests/unit.d/mine.sh',
      'git commit --quiet --all --message "Let the test pass"',
      ...pushes('mine'),
    ),
  },
  {
    what: 'watch a reset: a good change behind one that fails is tested again without it',
    file: script(
      'watch-a-reset.sh',
      'app',
      'git switch --quiet --force-create fails origin/master',
      'echo "exit 1" >tests/unit.d/fails.sh',
      'git add tests/unit.d/fails.sh',
      'git commit --quiet --message "Fail in the gate"',
      ...pushes('fails'),
      'cd ../api',
      'git fetch --quiet origin',
      'git switch --quiet --force-create behind origin/master',
      'echo "GET /mine" >>routes.txt',
      'git commit --quiet --all --message "Serve one more route"',
      ...pushes('behind'),
    ),
  },
];

function script(path: string, clone: string, ...lines: readonly string[]): DemoFile {
  const text = [
    '#!/bin/sh',
    'set -eux',
    `cd "$(dirname "$0")/../developer/acme/${clone}"`,
    'git fetch --quiet origin',
    ...lines,
    '',
  ].join('\n');
  return { path, text, executable: true };
}

/** Proposes, and approves at once; without that there is only a check. */
function pushes(topic: string): readonly string[] {
  return [
    `git push --quiet --force origin HEAD:refs/heads/for/master/${topic} HEAD:refs/heads/gate/master/${topic}`,
  ];
}
