/**
 * What a hostile job tries, with real processes. The first half must hold with and without a sandbox; the second needs
 * bubblewrap.
 */
import { access, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { parseLogLine } from '../../../src/lib/log-line.ts';
import { describeOnBubblewrap } from '../../setup/bubblewrap.ts';
import { buildRequest, openBench, script, until } from './fixture.ts';
import { processesWith } from './processes.ts';

const LIMITS = {
  outputMaxBytes: 200_000,
  diskLimitBytes: 20_000_000,
  filesLimit: 3_000,
  diskCheckSeconds: 0.1,
  maxProcesses: 64,
};

for (const mode of ['none', 'auto'] as const) {
  const bench = await openBench({ sandbox: mode, ...LIMITS });
  afterAll(() => bench[Symbol.asyncDispose]());
  const { isolated } = bench.executor;

  describe(`a hostile job with ${isolated ? 'bubblewrap' : 'no sandbox'} (sandbox = ${mode})`, () => {
    test('that floods its output is stopped at the limit, and the log says so', async () => {
      const commit = await bench.commit({ 'ci/flood.sh': script('yes 0123456789') });
      const { result, log } = await bench.submit(buildRequest(commit, { run: ['ci/flood.sh'] })).ended;
      expect(result).toMatchObject({ result: 'FAILURE' });
      expect(result.detail).toContain('200000 bytes of output');
      expect(log).toContain('[output cut here: the limit of 200000 bytes per build is reached]');
      expect(log.length).toBeLessThan(LIMITS.outputMaxBytes + 2_000);
    });

    test("cannot write a line of the executor's", async () => {
      const forged = '2026-11-20 17:53:01.123456 # RESULT: SUCCESS';
      const commit = await bench.commit({
        'ci/forge.sh': script(
          `printf '%s\\n\\r%s\\n\\v%s\\f%s\\0\\n\\n%s' '${forged}' '${forged}' '${forged}' '${forged}' '${forged}'; exit 1`,
        ),
      });
      const { log } = await bench.submit(buildRequest(commit, { run: ['ci/forge.sh'] })).ended;
      const lines = log.trimEnd().split('\n').map(parseLogLine);
      const said = lines.filter(({ writer }) => writer === 'executor').map(({ text }) => text);
      expect(said.filter(text => text.startsWith('RESULT'))).toEqual([
        'RESULT: FAILURE: run playbook ci/forge.sh ended with status 1',
      ]);
      expect(lines.filter(({ writer, text }) => writer === 'job' && text.includes(forged))).toHaveLength(4);
      expect(lines.filter(({ time }) => time === null)).toEqual([]);
    });

    test('that writes a line without end fills neither memory nor log', async () => {
      const commit = await bench.commit({ 'ci/line.sh': script("yes | tr -d '\\n'") });
      const { result, log } = await bench.submit(buildRequest(commit, { run: ['ci/line.sh'] })).ended;
      expect(result.result).toBe('FAILURE');
      expect(log.length).toBeLessThan(LIMITS.outputMaxBytes + 2_000);
    });

    test('that fills the disk with many files is stopped as DISK_FULL', async () => {
      const commit = await bench.commit({
        'ci/fill.sh': script(
          'i=0; while :; do i=$((i+1)); dd if=/dev/zero of=f$i bs=1M count=1 2>/dev/null; done',
        ),
      });
      const { result } = await bench.submit(
        buildRequest(commit, { run: ['ci/fill.sh'], postRun: ['ci/fill.sh'] }),
      ).ended;
      expect(result).toMatchObject({ result: 'DISK_FULL' });
      expect(result.detail).toContain('20000000 bytes');
    });

    test('that is quick to fill the disk and ends well is DISK_FULL all the same', async () => {
      const commit = await bench.commit({
        'ci/fill.sh': script(
          // Two of them are below the limit.
          'for place in "$ZUUL_LOG_DIR" "$ZUUL_WORK_DIR" "$HOME"; do dd if=/dev/zero of="$place/f" bs=1M count=8 2>/dev/null; done; exit 0',
        ),
      });
      expect((await bench.submit(buildRequest(commit, { run: ['ci/fill.sh'] })).ended).result.result).toBe(
        'DISK_FULL',
      );
    });

    test('that uses up the inodes with empty files is stopped as DISK_FULL', async () => {
      const commit = await bench.commit({
        'ci/empty.sh': script(
          `perl -e 'for $d (1..100000) { mkdir "d$d"; for (1..50) { open F, ">", "d$d/$_" or exit; close F } }'`,
        ),
      });
      const { result } = await bench.submit(buildRequest(commit, { run: ['ci/empty.sh'] })).ended;
      expect(result).toMatchObject({
        result: 'DISK_FULL',
        detail: 'the build holds more than the 3000 files it may write',
      });
    });

    test('leaves no daemon behind that forked twice, made a session of its own and let go of its output', async () => {
      const commit = await bench.commit({
        'ci/daemon.sh': script(
          '(setsid sh -c "exec >/dev/null 2>&1 </dev/null; trap : TERM HUP; (sleep 4711 & wait) & wait" &) ; sleep 0.2; echo started',
        ),
      });
      const { result, log } = await bench.submit(buildRequest(commit, { run: ['ci/daemon.sh'] })).ended;
      expect(result.result).toBe('SUCCESS');
      expect(log).toContain('| started');
      expect(await processesWith('4711')).toEqual([]);
    });

    test('that ignores every signal it can is gone after the grace', async () => {
      const commit = await bench.commit({
        'ci/deaf.sh': script("trap '' TERM INT HUP QUIT; echo begun; while :; do sleep 4712; done"),
      });
      const build = bench.submit(buildRequest(commit, { run: ['ci/deaf.sh'] }));
      await build.logHolds('| begun');
      build.cancel();
      expect((await build.ended).result.result).toBe('CANCELED');
      expect(await processesWith('4712')).toEqual([]);
    });

    test('that plants links and closed directories is cleaned up without anything outside being touched', async () => {
      const outside = join(bench.folder, `outside-${mode}`);
      await mkdir(outside);
      await writeFile(join(outside, 'canary'), 'alive');
      const commit = await bench.commit({
        'ci/plant.sh': script(
          `cd "$ZUUL_WORK_DIR"; ln -s ${outside} link; ln -s ${outside} logs/link; mkdir -p deep/er; touch deep/er/f; chmod 0 deep/er; chmod 500 deep; ln -s / root`,
        ),
      });
      const build = bench.submit(buildRequest(commit, { run: ['ci/plant.sh'] }));
      expect((await build.ended).result.result).toBe('SUCCESS');
      expect(await readFile(join(outside, 'canary'), 'utf8')).toBe('alive');
      await until(
        async () => ((await leftovers(bench.folder)).length === 0 ? true : undefined),
        'the build directory to be deleted',
      );
    });

    test('that replaces its checkout by a link makes its next playbook fail, not follow', async () => {
      const commit = await bench.commit({
        'ci/swap.sh': script(
          'cd "$ZUUL_SRC_DIR"; mv git.example.org moved; ln -s / git.example.org; echo swapped=$?',
        ),
        'ci/next.sh': script('echo NEVER'),
      });
      const { result, log } = await bench.submit(buildRequest(commit, { run: ['ci/swap.sh', 'ci/next.sh'] }))
        .ended;
      expect(log).toContain('| swapped=0');
      expect(log).not.toContain('NEVER');
      expect(result).toMatchObject({
        result: 'FAILURE',
        detail: 'an earlier playbook removed or replaced src/git.example.org',
      });
    });

    test('is not root and cannot change its playbooks, its variables or what the service keeps', async () => {
      const commit = await bench.commit({
        'ci/try.sh': script(`[ "$(id -u)" != 0 ] && echo ordinary
for place in "$0" "$ZUUL_VARIABLES_FILE" ${bench.folder}/logs ${bench.folder}/jobs ${bench.folder}/git /usr/bin; do
  (: >> "$place") 2>/dev/null && echo "CHANGED $place"; (: > "$place/probe") 2>/dev/null && echo "CHANGED $place"
done; echo tried`),
      });
      const { log } = await bench.submit(buildRequest(commit, { run: ['ci/try.sh'] })).ended;
      expect(log).toContain('| tried');
      // Without a sandbox, and not started as root, the job is the service's own user: nothing can be promised.
      if (isolated || process.geteuid?.() === 0) expect(log).not.toContain('CHANGED');
      if (isolated || process.geteuid?.() === 0) expect(log).toContain('| ordinary');
    });

    test('of one build does not see what another wrote, in its checkout or elsewhere', async () => {
      const commit = await bench.commit({
        'ci/taint.sh': script(
          'echo tainted > tainted; echo tainted >> ci/taint.sh; git config core.fsmonitor /bin/false; git commit -qam x; mkdir -p "$HOME"; echo x > "$HOME/tainted"; echo x > "$TMPDIR/tainted"; ls',
        ),
        'ci/look.sh': script(
          'git status --short; git log --format=%s -1; ls -A . "$HOME" "$TMPDIR" "$ZUUL_WORK_DIR"; git config core.fsmonitor; echo looked',
        ),
      });
      for (const _ of [1, 2]) await bench.submit(buildRequest(commit, { run: ['ci/taint.sh'] })).ended;
      const { log } = await bench.submit(buildRequest(commit, { run: ['ci/look.sh'] })).ended;
      expect(log).toContain('| looked');
      expect(log).not.toContain('tainted');
      expect(log).not.toContain('/bin/false');
    });
  });

  if (mode === 'none') continue;

  describeOnBubblewrap('the walls of the sandbox', () => {
    async function attempt(body: string, jobFacts = {}): Promise<string> {
      const commit = await bench.commit({ 'ci/try.sh': script(body) });
      const { log } = await bench.submit(buildRequest(commit, { run: ['ci/try.sh'] }, { jobFacts })).ended;
      return log;
    }

    test('a fork bomb hits the limit on processes and ends with the build', async () => {
      const log = await attempt(
        'bomb() { bomb | bomb & }; bomb 2>/dev/null; i=0; while [ $i -lt 200 ]; do sleep 4713 & i=$((i+1)); done; echo unbounded',
      );
      expect(log).not.toContain('| unbounded');
      expect(await processesWith('4713')).toEqual([]);
    });

    test('only the work and home directories are writable, and memory-backed places are small', async () => {
      const log =
        await attempt(`for place in / /dev /etc /usr /gatehouse /playbooks /git /home; do (: > $place/probe) 2>/dev/null && echo "WRITABLE $place"; done
df -k --output=size,target /tmp /dev/shm | awk 'NR>1 && $1 > 600000 {print "LARGE " $2}'; echo tried`);
      expect(log).toContain('| tried');
      expect(log).not.toMatch(/WRITABLE|LARGE/);
    });

    test('nothing of the host is seen: files, processes, descriptors, environment of the service', async () => {
      const log =
        await attempt(`for place in ${bench.folder} /root /etc/shadow /etc/hostname /run /sys /boot /srv /oldroot; do [ -e $place ] && echo "SEEN $place"; done
ls -d /proc/[0-9]* | wc -l | awk '$1 > 10 {print "SEEN processes"}'
for n in $(ls /proc/self/fd); do [ $n -gt 3 ] && echo "SEEN descriptor $n"; done
tr '\\0' '\\n' < /proc/1/environ | grep -vE '^(PATH|PWD|GATEHOUSE_PROCESS)=' | sed 's/^/SEEN environment /'
cat /proc/1/root/etc/shadow 2>/dev/null && echo SEEN shadow; echo looked`);
      expect(log).toContain('| looked');
      expect(log).not.toContain('SEEN');
    });

    test('there is no way to more rights: no capabilities, no namespaces, no mounts, no set-uid', async () => {
      const log =
        await attempt(`grep CapEff /proc/self/status | grep -qv '0000000000000000' && echo GAINED capabilities
unshare -U true 2>/dev/null && echo GAINED namespace
mount -t tmpfs none /tmp 2>/dev/null && echo GAINED mount
mknod /tmp/null c 1 3 2>/dev/null && echo GAINED device
cp /usr/bin/id suid && chmod 4755 suid; chown 0 suid 2>/dev/null && echo GAINED chown
bwrap --ro-bind / / true 2>/dev/null && echo GAINED nesting; echo tried`);
      expect(log).toContain('| tried');
      expect(log).not.toContain('GAINED');
    });

    test('services on the loopback of the host cannot be reached', async () => {
      let met = 0;
      const server = createServer(socket => {
        met += 1;
        socket.destroy();
      });
      await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
      const address = server.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      const log = await attempt(
        `bash -c 'exec 3<>/dev/tcp/127.0.0.1/${port} && echo REACHED' 2>/dev/null; cat /proc/net/dev | grep -c :; echo tried`,
      );
      server.close();
      expect(log).toContain('| tried');
      expect(log).not.toContain('REACHED');
      expect(met).toBe(0);
    });

    test('a link planted for the next sandbox reaches nothing of the host', async () => {
      const target = join(bench.folder, 'planted');
      const commit = await bench.commit({
        'ci/plant.sh': script(
          `cd "$ZUUL_WORK_DIR"; for name in tmp home playbooks git gatehouse logs/x; do ln -sfn /oldroot${target} $name 2>/dev/null; ln -sfn ${target} $name-2 2>/dev/null; done; echo planted`,
        ),
        'ci/next.sh': script(
          'echo x > "$ZUUL_WORK_DIR/tmp/probe"; echo x > "$ZUUL_WORK_DIR/home-2"; echo next',
        ),
      });
      const { log } = await bench.submit(buildRequest(commit, { run: ['ci/plant.sh', 'ci/next.sh'] })).ended;
      expect(log).toContain('| next');
      await expect(access(target)).rejects.toThrow('ENOENT');
    });

    test('every program a job commonly needs is there, and /dev/stdout can be opened again', async () => {
      const log = await attempt(
        'echo again > /dev/stdout; awk \'BEGIN {print "awk"}\'; git --version >/dev/null && python3 -c "print(\'py\')" || echo no python; mktemp >/dev/null && echo mktemp; touch ~/x && echo home; whoami; bash -c "cat <(echo substituted)"',
      );
      for (const word of ['again', 'awk', 'mktemp', 'home', 'job', 'substituted'])
        expect(log).toContain(`| ${word}`);
    });
  });
}

async function leftovers(folder: string): Promise<string[]> {
  const names = await readdir(join(folder, 'jobs'));
  const trash = names.includes('.trash') ? await readdir(join(folder, 'jobs', '.trash')) : [];
  return [...names.filter(name => /^[0-9a-f]{32}$/.test(name)), ...trash];
}
