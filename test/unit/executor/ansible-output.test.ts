/** The bounds of `job-output.json`, and its form while a playbook runs: the plugin alone, in a Python without Ansible. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { describeOnAnsible } from '../../setup/ansible.ts';

const PLUGINS = path.resolve(import.meta.dirname, '../../../src/executor/ansible');

/** What Ansible hands to the plugin, as far as it looks. */
const STAND_IN = `
import os, sys, types
base = types.ModuleType("ansible.plugins.callback")
base.CallbackBase = type("CallbackBase", (), {})
for name in ("ansible", "ansible.plugins"): sys.modules[name] = types.ModuleType(name)
sys.modules["ansible.plugins.callback"] = base
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import gatehouse_json
O = types.SimpleNamespace
facts = {"phase": "run", "phase_index": "0", "trusted": "False", "branch": "main"}
given = {"zuul_execution_" + name: value for name, value in facts.items()}
given["zuul_execution_canonical_name_and_path"] = "app/ci/deploy.yaml"
def play(name, extra_vars=given):
    return O(_uuid="p-" + name, get_name=lambda: name, get_variable_manager=lambda: O(extra_vars=extra_vars))
def task(name, role=None):
    return O(_uuid="t-" + name, name=name, action="command", _role=role)
def result(task, host="web", **returned):
    return O(host=O(get_name=lambda: host), task=task, result=returned)
def stats(**hosts):
    return O(processed=hosts, summarize=lambda host: {"ok": hosts[host]})
run = gatehouse_json.CallbackModule()
`;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'gatehouse-output-'));
});
afterEach(() => rm(folder, { recursive: true }));

/** @returns the text of the file after the calls; empty: there is none. */
async function after(calls: string): Promise<string> {
  const env = { ...process.env, ZUUL_LOG_DIR: folder, GATEHOUSE_STEPS: path.join(folder, 'steps') };
  await promisify(execFile)('python3', ['-c', `${STAND_IN}${calls}`, PLUGINS], { env });
  return readFile(path.join(folder, 'job-output.json'), 'utf8').catch(() => '');
}

/** What it has reported to the executor. */
const reported = () => readFile(path.join(folder, 'steps'), 'utf8').catch(() => '');

const ONE = `
run.v2_playbook_on_play_start(play("Deploy"))
role = O(get_name=lambda: "nginx", _uuid="r", _role_path="/roles/nginx")
look = task("Look", role)
run.v2_playbook_on_task_start(look)
run.v2_runner_on_ok(result(look, changed=True, stdout="grüße", _ansible_no_log=False, bad=float("nan")))
run.v2_runner_on_failed(result(look, "db", rc=1))
`;

describeOnAnsible('job-output.json', () => {
  test('is whole after every task, grows by playbooks, and has the fields of Zuul', async () => {
    const killed = JSON.parse(await after(`${ONE}run.v2_playbook_on_task_start(task("Next"))\n`));
    expect(killed).toEqual([
      {
        ...{ playbook: 'app/ci/deploy.yaml', phase: 'run', index: '0', trusted: false, branch: 'main' },
        plays: [
          {
            play: { name: 'Deploy', id: 'p-Deploy', duration: { start: expect.any(String), end: END } },
            tasks: [
              {
                task: { name: 'Look', id: 't-Look', duration: { start: expect.any(String), end: END } },
                role: { name: 'nginx', id: 'r', path: '/roles/nginx' },
                hosts: {
                  web: { changed: true, stdout: 'grüße', bad: 'nan', action: 'command' },
                  db: { rc: 1, failed: true, action: 'command' },
                },
              },
            ],
          },
        ],
        stats: {},
      },
    ]);
    const both = JSON.parse(
      await after(`
${ONE}
run.v2_playbook_on_play_start(play("Second"))
run.v2_playbook_on_play_start(play("Third"))
away = task("Away")
run.v2_playbook_on_handler_task_start(away)
run.v2_runner_on_unreachable(result(away))
run.v2_playbook_on_stats(stats(web=2, db=0))
`),
    );
    expect(both[0]).toEqual(killed[0]);
    expect(both).toHaveLength(2);
    expect(both[1]).toMatchObject({
      plays: [
        { play: { name: 'Deploy' } },
        { play: { name: 'Second' }, tasks: [] },
        { play: { name: 'Third' }, tasks: [{ hosts: { web: { unreachable: true } } }] },
      ],
      stats: { db: { ok: 0 }, web: { ok: 2 } },
    });
  });

  test('keeps to its bounds without cutting a value, and counts what is left out', async () => {
    const [{ plays, gatehouse }] = JSON.parse(
      await after(`
gatehouse_json.MOST_BYTES, gatehouse_json.MOST_RESULT, gatehouse_json.MOST_VALUE = 700, 300, 50
run.v2_playbook_on_play_start(play("Deploy"))
def ran(name, **returned):
    done = task(name)
    run.v2_playbook_on_task_start(done)
    run.v2_runner_on_ok(result(done, **returned))
ran("long", rc=0, stdout="x" * 400)
ran("many", **{"field%d" % at: "y" * 40 for at in range(20)})
for at in range(4): ran("later", rc=0)
run.v2_playbook_on_stats(stats(web=6))
`),
    );
    const [{ tasks }] = plays;
    expect(tasks[0].hosts.web).toEqual({ rc: 0, stdout: 'left out: 402 bytes of JSON', action: 'command' });
    expect(tasks[1].hosts.web).toEqual({ gatehouse_left_out: expect.any(Number), action: 'command' });
    expect(tasks.length + gatehouse.left_out).toBe(6);
    expect(gatehouse.left_out).toBeGreaterThan(1);
  });

  test('has a task again for a host that is behind the others', async () => {
    const [{ plays }] = JSON.parse(
      await after(`
run.v2_playbook_on_play_start(play("Deploy"))
first, second = task("first"), task("second")
run.v2_playbook_on_task_start(first)
run.v2_runner_on_ok(result(first, "fast"))
run.v2_playbook_on_task_start(second)
run.v2_runner_on_skipped(result(first, "slow"))
run.v2_runner_on_ok(result(second, "fast"))
run.v2_playbook_on_stats(stats())
`),
    );
    const seen = plays[0].tasks.map((each: { readonly task: object; readonly hosts: object }) => [
      'id' in each.task && each.task.id,
      Object.keys(each.hosts),
    ]);
    expect(seen).toEqual([
      ['t-first', ['fast']],
      ['t-first', ['slow']],
      ['t-second', ['fast']],
    ]);
  });

  test('leaves alone what a job wrote under its name, and has no run within a run', async () => {
    await writeFile(path.join(folder, 'job-output.json'), '{"mine": true}\n');
    expect(await after(ONE)).toBe('{"mine": true}\n');
    expect(await reported()).toBe('lost\tjob-output.json\tthe job wrote a file of that name\n');
    await rm(path.join(folder, 'job-output.json'));
    await rm(path.join(folder, 'steps'));
    expect(await after('run.v2_playbook_on_play_start(play("Within", {}))\n')).toBe('');
    expect(await reported()).toBe('');
  });

  test('is as it was where the disk is full, and stops no run', async () => {
    const text = await after(`
${ONE}
run.v2_playbook_on_task_start(task("Next"))
whole = gatehouse_json.os.pwrite
room = os.path.getsize(os.path.join(os.environ["ZUUL_LOG_DIR"], "job-output.json")) + 10
def full(file, data, at):
    if at >= room: raise OSError(28, "No space left on device")
    return whole(file, data[:room - at], at)
gatehouse_json.os.pwrite = full
run.v2_playbook_on_play_start(play("Second" * 50))
run.v2_playbook_on_stats(stats())
`);
    expect(JSON.parse(text)).toMatchObject([
      { plays: [{ play: { name: 'Deploy' }, tasks: [{ task: { name: 'Look' } }] }] },
    ]);
    expect(await reported()).toBe('lost\tjob-output.json\tNo space left on device\n');
  });

  test('ends with an error of its own, which is reported once and without what a task returned', async () => {
    await after(`
run.v2_playbook_on_play_start(play("Deploy"))
odd = task("Odd")
run.v2_playbook_on_task_start(odd)
class Odd(dict):
    def __str__(self): raise ValueError("geheim")
    items = __str__
run.v2_runner_on_ok(result(odd, value=Odd()))
run.v2_playbook_on_stats(stats())
`);
    expect(await reported()).toBe('lost\tjob-output.json\tValueError\n');
  });
});

const END = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
