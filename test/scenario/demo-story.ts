/**
 * One story with everything a backend should show: a reset, a retry, a conflict, steps of a script and of Ansible, a long job in a
 * trace of its own, commands.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { runProgram } from '../../src/cmd/commands/program.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { layoutWith } from './layouts.ts';
import type { World, WorldSetup } from './world.ts';

/** Has steps, and fails at the first attempt, as a job does on a machine with trouble. */
const FIRST_TIME = `#!/bin/sh
step() { printf '%s\\t%s\\t%s\\t%s\\t%s\\t%s\\n' "$@" >>"$GATEHOUSE_STEPS"; }
ended() { printf 'end\\t%s\\t%s\\tSUCCESS\\n' "$1" "$(date +%s%N)" >>"$GATEHOUSE_STEPS"; }
step begin outer - step "$(date +%s%N)" prepare
step begin inner outer step "$(date +%s%N)" download
ended inner
ended outer
step begin play - play "$(date +%s%N)" site
step begin task play task "$(date +%s%N)" install
ended task
ended play
test "$ZUUL_ATTEMPT" != 1
`;

export const DEMO: WorldSetup = {
  layout: layoutWith(
    `
- job:
    name: unit
- job:
    name: flaky
    pre-run: playbooks/first-time.sh
- job:
    name: nightly
    trace: own
- project:
    name: org/project
    gate:
      jobs:
        - unit
        - flaky
        - nightly
`,
    { gate: {} },
  ),
  configFiles: { 'playbooks/first-time.sh': FIRST_TIME },
};

/** E is dequeued by hand while its jobs run. */
export async function dequeueByHand(world: World): Promise<void> {
  await world.propose('E');
  await world.approve('E');
  await world.runs('unit: E', 'flaky: E', 'nightly: E');
  const command = ['dequeue', 'org/project', 'master/E', '--pipeline', 'gate'];
  await runCommand([...command, '--config', world.config]);
  await world.leaves('E', 'DEQUEUED');
  const kinds = () => world.sink.spans.map(span => span.attributes['gatehouse.span.type']);
  await world.observer.until('the request to arrive', () => kinds().includes('ManagementEvent'));
}

/** A fails, B and C are tested again without it and land, D conflicts with B. */
export async function playDemo(world: World): Promise<void> {
  for (const topic of ['A', 'C']) await world.propose(topic);
  await world.propose('B', { files: { 'both.txt': 'one\n' } });
  await world.propose('D', { files: { 'both.txt': 'another\n' } });
  for (const topic of ['A', 'B', 'C', 'D']) await world.approve(topic);
  world.fail('unit', 'A');
  await world.runs(
    ...['A', 'A B', 'A B C'].flatMap(changes =>
      ['unit', 'flaky', 'nightly'].map(job => `${job}: ${changes}`),
    ),
  );
  world.release(/unit: A$/);
  await world.observer.until('C to be tested again', () => world.item('C')?.resets.length === 1);
  world.free();
  await world.leaves('A', 'FAILURE');
  await world.leaves('B', 'SUCCESS');
  await world.leaves('C', 'SUCCESS');
  await world.leaves('D', 'MERGE_CONFLICT');
  await runCommand(['status', '--url', world.service.url, '--config', world.config]);
  const roots = () => world.sink.spans.filter(span => span.attributes['gatehouse.span.type'] === 'QueueItem');
  await world.observer.until(
    'all roots to arrive',
    () => roots().filter(root => root.attributes['gatehouse.result'] !== 'DEQUEUED').length === 4,
  );
}

/** The story's settings with the port the service got: what a command needs that reads them. */
export async function settingsOf(world: World): Promise<string> {
  const file = `${world.config}.command`;
  const { port } = new URL(world.service.url);
  await writeFile(file, (await readFile(world.config, 'utf8')).replace('port = 0', `port = ${port}`));
  return file;
}

/** @returns what it said. @throws Error when its status is not 0. */
export async function runCommand(args: readonly string[]): Promise<string> {
  const said: string[] = [];
  const stream = { write: (text: string) => said.push(text) };
  const status = await runProgram(args, {
    stdout: stream,
    stderr: stream,
    environment: {},
    clock: systemClock(),
    interrupted: () => new AbortController().signal,
  });
  if (status !== 0) throw new Error(`gatehouse ${args.join(' ')}: status ${status}: ${said.join('')}`);
  return said.join('');
}
