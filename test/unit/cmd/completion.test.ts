/** Completion and the manual page: of all commands and options, for the real programs that read them. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runProgram } from '../../../src/cmd/commands/program.ts';
import { recordingIo } from './fixture.ts';

async function printed(...args: readonly string[]): Promise<string> {
  const io = recordingIo();
  expect(await runProgram(args, io)).toBe(0);
  return io.out();
}

let directory: string;
let script: string;
beforeAll(async () => {
  directory = mkdtempSync(path.join(tmpdir(), 'gatehouse-completion-'));
  script = path.join(directory, 'completion.bash');
  writeFileSync(script, await printed('completion', 'bash'));
  writeFileSync(path.join(directory, 'my.conf'), '');
});
afterAll(() => rmSync(directory, { recursive: true }));

/** What bash offers after these words, the last of which is being written. */
function offered(words: readonly string[]): readonly string[] {
  const list = words.map(word => `'${word}'`).join(' ');
  const ask = `. "$0"; COMP_WORDS=(gatehouse ${list}); COMP_CWORD=${words.length}; _gatehouse; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const text = execFileSync('bash', ['--norc', '-c', ask, script], { cwd: directory, encoding: 'utf8' });
  return text.split('\n').filter(word => word !== '');
}

describe('completion of bash', () => {
  test.each([
    [['st'], ['start', 'status', 'stop-gracefully', 'store']],
    [
      ['store', ''],
      ['dump', 'restore'],
    ],
    [['start', 'sch'], ['scheduler']],
    [['start', 'scheduler', 'w'], ['web']],
    [['hook', 'install', '--proj'], ['--project']],
    [
      ['trace', 'export', '--protocol', ''],
      ['grpc', 'http/protobuf'],
    ],
    [['start', '-c', 'my'], ['my.conf']],
    [['status', '--tenant', ''], []],
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish'],
    ],
  ])('after gatehouse %j offers %j', (words, expected) => {
    expect(offered(words)).toEqual(expected);
  });

  test('offers every option that the help of a command has', async () => {
    const help = await printed('builds', '--help');
    const options = [...help.matchAll(/^ {2}(?:(-\w), )?(--[\w-]+)/gm)].flatMap(([, short, long]) => [
      short,
      long,
    ]);
    expect(options.length).toBeGreaterThan(15);
    expect(new Set(offered(['builds', '-']))).toEqual(
      new Set(options.filter(option => option !== undefined)),
    );
  });
});

describe('completion of other shells', () => {
  test.each(['zsh', 'fish'])('%s is offered every command', async shell => {
    const text = await printed('completion', shell);
    for (const name of ['status', 'quickstart', 'create-app', 'stop-gracefully'])
      expect(text).toContain(name);
    // Where the shell is installed it reads the script.
    const { error, status, stderr } = spawnSync(shell, ['-n'], { input: text, encoding: 'utf8' });
    if (error === undefined) expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });
});

describe('the manual page', () => {
  test('has every command and option of the help', async () => {
    const text = (await printed('man')).replaceAll('\\-', '-');
    for (const heading of ['status', 'trace <item> [change]', 'trace export', 'hook install <repository>'])
      expect(text).toContain(`.SS ${heading}\n`);
    for (const option of ['-V, --version', '--json [fields]', '-c, --config <file>', '--since <time>'])
      expect(text).toContain(`.B ${option}\n`);
  });

  test('is read without a warning by groff, where that is installed', async () => {
    const page = await printed('man');
    const groff = spawnSync('groff', ['-man', '-Tutf8', '-ww', '-z'], { input: page, encoding: 'utf8' });
    if (groff.error === undefined)
      expect({ status: groff.status, said: groff.stderr }).toEqual({ status: 0, said: '' });
  });
});
