/** What a playbook finds of its secrets, in the sandbox and without one. */
import { existsSync, readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { describeOnBubblewrap } from '../../setup/bubblewrap.ts';
import { buildRequest, openBench, script } from './fixture.ts';
import { secretKeys, TOKEN, withSecret } from './secret-request.ts';

const READ = `${JSON.stringify({ deploy: { user: 'robot', token: TOKEN } })}\n`;
const FILES = {
  'ci/with.sh': script(`stat -c "mode %a" "$ZUUL_SECRETS_FILE"
cat "$ZUUL_SECRETS_FILE" "$ZUUL_SECRETS_FILE"
test "$(wc -c <"$ZUUL_SECRETS_FILE")" = ${READ.length}
echo "the path is $ZUUL_SECRETS_FILE"
if ! echo x 2>/dev/null >"$ZUUL_SECRETS_FILE"; then echo READ-ONLY; fi`),
  'ci/without.sh': script(`echo "secrets: \${ZUUL_SECRETS_FILE:-none}"
ls /run/gatehouse/secrets.json 2>&1 || true
echo "${TOKEN}"`),
};

async function play(sandbox: 'bubblewrap' | 'none', check: (log: string) => void): Promise<void> {
  await using bench = await openBench({ sandbox }, { secretKeys });
  const commit = await bench.commit(FILES);
  const request = buildRequest(commit, { run: ['ci/with.sh', 'ci/without.sh'] });
  const { result, log } = await bench.submit(withSecret(request, 0)).ended;
  expect(result.result, log).toBe('SUCCESS');
  expect(log).toContain('mode 400');
  expect(log.match(/\{"deploy":\{"user":"robot","token":"\*\*\*"\}\}/g)).toHaveLength(2);
  expect(log).toContain('secrets: none');
  expect(log).toContain('| ***');
  expect(log).not.toContain('hunter2');
  check(log);
}

describeOnBubblewrap('a playbook with a secret in the sandbox', () => {
  test('reads it from memory that only it has, and can neither change nor leave it', async () => {
    await play('bubblewrap', log => {
      expect(log).toContain('the path is /run/gatehouse/secrets.json');
      expect(log).toContain('READ-ONLY');
      expect(log).toMatch(/No such file/);
    });
  });
});

const HOMES = {
  'ci/prepare.sh': script('mkdir -p ~/.local; echo tool >~/.local/tool; ls ~/src/git.example.org/acme/app'),
  'ci/with.sh': script('ls -A ~; ls ~/src/git.example.org/acme/app; cat "$ZUUL_SECRETS_FILE" >~/.token'),
  'ci/without.sh': script('cat ~/.local/tool; ls -A ~'),
};

describeOnBubblewrap('the home directory in the sandbox', () => {
  test('lasts from playbook to playbook of a build; a playbook with a secret has one for itself', async () => {
    await using bench = await openBench({ sandbox: 'bubblewrap' }, { secretKeys });
    const scripts = { preRun: ['ci/prepare.sh'], run: ['ci/with.sh'], postRun: ['ci/without.sh'] };
    const request = withSecret(buildRequest(await bench.commit(HOMES), scripts), 0);
    const { result, log } = await bench.submit(request).ended;
    expect(result.result, log).toBe('SUCCESS');
    const [, , printed = []] = log.split(/ START: .*\n/).map(part => [...part.matchAll(/\| (.*)/g)]);
    expect(printed.map(([, line]) => line)).toEqual(['src', 'ci']);
    const [, , , last = []] = log.split(/ START: .*\n/).map(part => [...part.matchAll(/\| (.*)/g)]);
    expect(last.map(([, line]) => line)).toEqual(['tool', '.local', 'src']);
    const next = await bench.submit(buildRequest(await bench.commit(HOMES), { run: ['ci/without.sh'] }))
      .ended;
    expect(next.log).toMatch(/tool.*No such file/);
  });
});

describe('a playbook with a secret and no sandbox', () => {
  test('reads it from a file of memory that is gone afterwards', async () => {
    let folder = '';
    await play('none', log => {
      const [, path = ''] = /the path is (\S+)/.exec(log) ?? [];
      folder = path.slice(0, path.lastIndexOf('/'));
      expect(folder).toContain('gatehouse-secrets-');
      expect(readdirSync(folder)).toEqual([]);
    });
    expect(existsSync(folder)).toBe(false);
  });

  test('is not run where untrusted playbooks are refused for want of a sandbox', async () => {
    await using bench = await openBench({ sandbox: 'none', untrustedWithoutSandbox: false }, { secretKeys });
    const commit = await bench.commit(FILES);
    const { result, log } = await bench.submit(withSecret(buildRequest(commit, { run: ['ci/with.sh'] }), 0))
      .ended;
    expect(result.result).toBe('ERROR');
    expect(log).toContain('has secrets and this executor has no sandbox to keep them in');
  });

  test('is tried again when the key is gone or another one: that is no verdict', async () => {
    for (const [found, reason] of [
      [undefined, 'the project has no key'],
      [async () => undefined, 'the key of the project is another one'],
    ] as const) {
      await using bench = await openBench({ sandbox: 'none' }, { secretKeys: { opener: async () => found } });
      const commit = await bench.commit(FILES);
      const ended = await bench.submit(withSecret(buildRequest(commit, { run: ['ci/with.sh'] }), 0)).ended;
      expect(ended.result.result).toBe('RETRY');
      expect(ended.log).toContain(reason);
    }
  });
});
