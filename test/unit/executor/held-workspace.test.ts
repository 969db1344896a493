/** Workspaces of failed builds that a person asked to keep: what is kept of them, and when it goes. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { makePlaces, placesOf } from '../../../src/executor/build-places.ts';
import type { ExecutorOptions } from '../../../src/executor/deps.ts';
import { type OwnProcesses, WorkspaceFailure } from '../../../src/executor/git-process.ts';
import { heldPlace } from '../../../src/executor/held/held-name.ts';
import { holdWorkspace } from '../../../src/executor/held/hold-workspace.ts';
import { failedBuildOf, withHostsAfter } from '../../../src/executor/hosts/hold-hosts.ts';
import { derivedUuid, isUuid } from '../../../src/lib/ids.ts';
import { holdRequestCodec } from '../../../src/model/codec/records.ts';
import type { HoldRequest } from '../../../src/model/hold-request.ts';
import { askOperation, findHold, readHolds, releaseOperations } from '../../../src/nodes/hold-requests.ts';
import { openEmbeddedStore } from '../../../src/store/embedded/server.ts';
import { ensureNode } from '../../../src/store/ensure-node.ts';
import { storePaths } from '../../../src/store/paths.ts';
import { type Operation, remove, type Store, set } from '../../../src/store/port.ts';
import { describeOnBubblewrap } from '../../setup/bubblewrap.ts';
import { manualClock } from '../store/test-bench.ts';
import {
  type Bench,
  buildRequest,
  CANONICAL,
  type HoldBook,
  openBench,
  type Scripts,
  script,
  until,
} from './fixture.ts';
import { secretKeys, withSecret } from './secret-request.ts';

const unused = () => {
  throw new Error('not for this test');
};
const paths = storePaths();
const clock = manualClock();
let server: ReturnType<typeof openEmbeddedStore>;
let store: Store;
beforeEach(async () => {
  server = openEmbeddedStore({ file: ':memory:' });
  store = server.connect();
  await ensureNode(store, paths.holds);
});
afterEach(() => server.close());

const place = () => ({ store, paths, clock });
/** As the store's side of the executor does it. @param before called when the build is about to be stored. */
function book(before: () => Promise<void> = async () => {}): HoldBook {
  return {
    records: { store, paths },
    find: request => findHold(place(), failedBuildOf(request)),
    async complete({ uuid }, after = {}) {
      await before();
      const write = (operations: readonly Operation[]) => store.multi(operations);
      await withHostsAfter(place(), after, { build: uuid, granted: undefined, labels: new Map() }, write);
    },
  };
}

async function ask(more: Partial<HoldRequest> = {}): Promise<void> {
  const hold: HoldRequest = {
    ...{
      tenant: 'acme',
      project: CANONICAL,
      job: buildRequest('0'.repeat(40), {}).jobName,
      filter: { on: 'all' },
    },
    ...{ reason: 'look', by: 'alice', at: clock.now(), maxCount: 1, count: 0, expiration: 60, held: [] },
    ...more,
  };
  await store.multi([askOperation(place(), hold)]);
}
async function requestNow() {
  const [found] = await readHolds(place(), undefined);
  if (found === undefined) throw new Error('there is no request');
  return found;
}
async function release(): Promise<void> {
  const found = await requestNow();
  await store.multi(await releaseOperations(place(), found, found.hold.held, clock.now(), 'deleted'));
}

const inHeld = ({ executor }: Bench) => {
  const held = join(executor.jobDir, '.held');
  return existsSync(held) ? readdirSync(held) : [];
};
const builds = ({ executor }: Bench) =>
  readdirSync(executor.jobDir).filter(name => /^[0-9a-f]{32}$/.test(name));

/** As a person would, whose git has settings of no system. */
function git(tree: string, ...args: readonly string[]): string {
  const env = { PATH: process.env.PATH, HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' };
  return execFileSync('git', ['-C', tree, ...args], { env, encoding: 'utf8' }).trim();
}

async function failedBuild(bench: Bench, body: string, scripts: Scripts = { run: ['ci/run.sh'] }) {
  const commit = await bench.commit({ 'ci/run.sh': script(`${body}\nexit 3`), 'app.txt': 'as committed\n' });
  const request = buildRequest(commit, scripts);
  return { request, commit, ...(await bench.submit(request).ended) };
}

async function heldBuild(bench: Bench, body: string) {
  await ask();
  const build = await failedBuild(bench, body);
  const { hold } = await requestNow();
  const workspace = hold.held[0]?.workspace;
  if (workspace === undefined) throw new Error(`nothing is held: ${build.log}`);
  return { ...build, workspace, tree: join(workspace.path, 'work/src', CANONICAL) };
}

const HOSTILE = `touch "$ZUUL_WORK_DIR/run-me"
cat >"$ZUUL_WORK_DIR/evil" <<END
#!/bin/sh
touch ran
END
chmod 6755 "$ZUUL_WORK_DIR/evil"
cp -p "$ZUUL_WORK_DIR/evil" .git/evil
mkdir .git/hooks
cp "$ZUUL_WORK_DIR/evil" .git/hooks/post-index-change
git config core.fsmonitor "$(pwd)/.git/evil"
git init -q nested
git -C nested config core.fsmonitor "$(pwd)/.git/evil"
touch nested/file
mkfifo pipe`;

const BODY = `cd "$ZUUL_SRC_DIR/${CANONICAL}"
echo changed >app.txt
echo evidence >left.txt
git -c user.name=job -c user.email=job@example.org commit -q --allow-empty -m "a commit of the job" || exit 9
echo staged >staged.txt; git add staged.txt
echo tool >~/tool
mkdir -m 0 closed
${HOSTILE}`;

function stories(sandbox: ExecutorOptions['sandbox']): void {
  test('a person finds what the job left, in repositories that need nothing else, and starts none of its programs', async () => {
    await using bench = await openBench({ sandbox }, { holds: book() });
    const { result, log, request, commit, workspace, tree } = await heldBuild(bench, BODY);
    expect(result.result, log).toBe('FAILURE');
    const { id } = await requestNow();
    const text = `held for hold request ${id} of alice (look): workspace ${workspace.path} of executor1`;
    expect(result.detail).toContain(text);
    expect(log).toContain(text);
    expect(workspace.path).toBe(join(bench.executor.jobDir, '.held', `acme-${id}-${request.uuid}`));
    expect(workspace.bytes).toBeGreaterThan(1000);
    expect(builds(bench)).toEqual([]);
    expect(readdirSync(workspace.path).toSorted()).toEqual(['home', 'work']);
    expect(readFileSync(join(tree, 'left.txt'), 'utf8')).toBe('evidence\n');
    // The cache forgets the commit.
    renameSync(bench.repository.path, `${bench.repository.path}-gone`);
    expect(
      git(tree, 'status', '--porcelain')
        .split('\n')
        .map(line => line.trim())
        .toSorted(),
    ).toEqual(['A  staged.txt', '?? left.txt', '?? nested/', 'M app.txt'].toSorted());
    expect(git(tree, 'log', '--format=%s', '-1')).toBe('a commit of the job');
    expect(git(tree, 'rev-parse', 'HEAD^')).toBe(commit);
    expect(git(tree, 'show', 'HEAD:app.txt')).toBe('as committed');
    git(tree, 'fsck', '--full');
    git(join(tree, 'nested'), 'status');
    expect([existsSync(join(tree, 'ran')), existsSync(join(tree, 'nested/ran'))]).toEqual([false, false]);
    expect(git(join(tree, 'nested'), 'config', '-f', '.git/config.of-job', 'core.fsmonitor')).toContain(
      'evil',
    );
    expect(readFileSync(join(workspace.path, 'home/tool'), 'utf8')).toBe('tool\n');
    expect(readdirSync(join(workspace.path, 'home/src'))).toEqual(['git.example.org']);
    expect(existsSync(join(tree, 'pipe'))).toBe(false);
    const evil = statSync(join(workspace.path, 'work/evil'));
    expect([evil.uid, evil.mode & 0o7000]).toEqual([process.geteuid?.(), 0]);
    expect(lstatSync(join(bench.executor.jobDir, '.held')).mode & 0o777).toBe(0o700);
    expect(readdirSync(join(tree, 'closed'))).toEqual([]);
    await release();
    await until(() => (inHeld(bench).length === 0 ? true : undefined), 'the workspace to go');
  });

  test('what has a secret of the build is not held, nor how its processes were reached', async () => {
    await using bench = await openBench({ sandbox }, { holds: book(), secretKeys });
    await ask();
    const commit = await bench.commit({
      'ci/run.sh': script(`mkdir -p "$ZUUL_WORK_DIR/a b"
cp "$ZUUL_SECRETS_FILE" "$ZUUL_WORK_DIR/a b/copy
of it"
token=$(sed 's/.*"token":"\\([^"]*\\)".*/\\1/' "$ZUUL_SECRETS_FILE")
printf 'x%sy' "$token" >"$ZUUL_WORK_DIR/plain"
printf '%s' "$token" | base64 >"$ZUUL_WORK_DIR/coded"
echo kept >"$ZUUL_WORK_DIR/kept"
exit 3`),
    });
    const request = withSecret(buildRequest(commit, { run: ['ci/run.sh'] }), 0);
    const { log } = await bench.submit(request).ended;
    const path = (await requestNow()).hold.held[0]?.workspace?.path ?? log;
    expect(log).toContain('the workspace is held, but: without 3 files with secrets of the build');
    expect(readdirSync(join(path, 'work')).toSorted()).toEqual(['a b', 'artifacts', 'kept', 'logs', 'src']);
    expect(readdirSync(join(path, 'work/a b'))).toEqual([]);
    const found = execFileSync('sh', ['-c', 'grep -rla hunter2 "$1" || true', 'sh', bench.executor.jobDir]);
    expect(found.toString()).toBe('');
    expect(execFileSync('find', [bench.executor.jobDir, '-type', 's']).toString()).toBe('');
  });

  test('it stays when its executor starts again, and one that was released meanwhile is removed then', async () => {
    const bench = await openBench({ sandbox }, { holds: book() });
    const { workspace } = await heldBuild(bench, BODY);
    await bench.executor.stop('immediate');
    const places = { folder: bench.folder, holds: book() };
    const second = await openBench({ sandbox }, places);
    const { result } = await failedBuild(second, 'true');
    expect([result.result, existsSync(workspace.path)]).toEqual(['FAILURE', true]);
    await second.executor.stop('immediate');
    await release();
    await using third = await openBench({ sandbox }, places);
    await until(() => (existsSync(workspace.path) ? undefined : true), 'the workspace to go');
    expect(inHeld(third)).toEqual([]);
  });

  test('a request that is gone when the result is stored leaves none behind', async () => {
    const holds = book(async () => {
      const { node } = await requestNow();
      await store.multi([remove(paths.hold(node))]);
    });
    await using bench = await openBench({ sandbox }, { holds });
    await ask();
    const { result, log } = await failedBuild(bench, BODY);
    expect(result.result, log).toBe('FAILURE');
    await until(() => (inHeld(bench).length === 0 ? true : undefined), 'the workspace to go');
    expect(builds(bench)).toEqual([]);
  });

  test('one that takes more than there is room for is removed, and the request holds another', async () => {
    await using bench = await openBench({ sandbox, heldBytesLimit: 2_000_000 }, { holds: book() });
    await ask();
    const { log } = await failedBuild(bench, 'head -c 3000000 /dev/urandom >"$ZUUL_WORK_DIR/large"');
    expect(log).toMatch(
      /hold request \d+: the workspace is not held: it takes 3\d+ bytes, and .* leaves room for 2000000/,
    );
    expect([(await requestNow()).hold.count, inHeld(bench), builds(bench)]).toEqual([0, [], []]);
    const { log: second } = await failedBuild(bench, BODY);
    expect([second, (await requestNow()).hold.count]).toEqual([expect.stringContaining(': workspace /'), 1]);
  });

  test('a job that put a link where its sources were gets nothing followed', async () => {
    await using bench = await openBench({ sandbox }, { holds: book() });
    await ask();
    const { log } = await failedBuild(
      bench,
      `cd "$ZUUL_WORK_DIR"; mv src was; ln -s "${bench.folder}" src; ls src/ || true`,
    );
    const { hold } = await requestNow();
    if (hold.count === 0) expect(log).toContain('the workspace is not held: the job removed or replaced src');
    else expect(log).toContain(`git does not know src/${CANONICAL}: the job removed or replaced src`);
    expect(bench.repository.path.startsWith(bench.folder)).toBe(true);
    expect(await bench.repository.git('fsck', '--full')).toBe('');
  });
}

describe('a held workspace without a sandbox', () => stories('none'));
describeOnBubblewrap('a held workspace of the sandbox', () => stories('bubblewrap'));

test('one that cannot be held, however far it came, is where the next start removes it', async () => {
  const jobDir = mkdtempSync(join(tmpdir(), 'gatehouse-held-'));
  try {
    for (let dies = 1; ; dies++) {
      const build = derivedUuid(`dies ${dies}`);
      const places = placesOf(jobDir, build);
      makePlaces(places, null, '/build');
      let calls = 0;
      const step = async (argv: readonly string[]) => {
        calls += 1;
        if (calls === dies) throw new WorkspaceFailure('killed');
        if (argv[0] === 'rm') for (const each of argv.slice(3)) rmSync(each, { recursive: true });
        return '4096\ttotal';
      };
      const own: OwnProcesses = {
        git: unused,
        pack: async () => void (await step([])),
        merged: unused,
        system: step,
      };
      const tree = join(places.src, 'app');
      mkdirSync(join(tree, '.git/objects/info'), { recursive: true });
      mkdirSync(join(tree, '.git/objects/pack'));
      const repositories = [{ tree, gitDir: '/cache' }];
      const workspace = { overlays: [], readOnly: [], repositories, treeOf: unused };
      const outcome = await holdWorkspace(
        { own, jobDir, mostBytes: 1_000_000 },
        {
          ...{ places, workspace, owner: null, masks: ['hunter2'], signal: new AbortController().signal },
          name: { request: 'acme-0000000001', build },
        },
      );
      if (outcome.kind === 'held' && outcome.notes.every(note => !note.includes('killed'))) {
        expect([existsSync(places.root), existsSync(outcome.path)]).toEqual([false, true]);
        expect(calls).toBe(dies - 1);
        break;
      }
      if (outcome.kind === 'held') continue;
      expect(outcome.reason).toBe('killed');
      expect(existsSync(places.root)).toBe(true);
      expect(readdirSync(jobDir).filter(name => !isUuid(name) && name !== '.held')).toEqual([]);
      expect(existsSync(heldPlace(jobDir, { request: 'acme-0000000001', build }))).toBe(false);
    }
  } finally {
    rmSync(jobDir, { recursive: true, force: true });
  }
});

test('a directory for which no request is there is removed at the start, one whose request cannot be read is not', async () => {
  const bench = await openBench({}, { holds: book() });
  await bench.executor.stop('immediate');
  await ask();
  const { node, version } = await requestNow();
  const newer = JSON.parse(new TextDecoder().decode((await store.get(paths.hold(node)))?.data));
  await store.multi([
    set(paths.hold(node), new TextEncoder().encode(JSON.stringify({ ...newer, v: 99 })), version),
  ]);
  expect(() =>
    holdRequestCodec.decode(new TextEncoder().encode(JSON.stringify({ ...newer, v: 99 }))),
  ).toThrow();
  const [lost, unread] = [`acme-0000000099-${derivedUuid('lost')}`, `${node}-${derivedUuid('unread')}`];
  for (const name of [lost, unread, 'notes'])
    mkdirSync(join(bench.executor.jobDir, '.held', name, 'work'), { recursive: true });
  await using second = await openBench({}, { folder: bench.folder, holds: book() });
  await until(() => (inHeld(second).includes(lost) ? undefined : true), 'the lost one to go');
  expect(inHeld(second).toSorted()).toEqual([unread, 'notes'].toSorted());
});

test('kill -9 of its executor between the workspace and the result leaves nothing held, and the request for the next', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-held-'));
  chmodSync(folder, 0o755);
  const program = fileURLToPath(new URL('holder-to-kill.ts', import.meta.url));
  const child = spawn(process.execPath, [program, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const [said] = await once(child.stdout, 'data');
    expect(String(said)).toBe('held, not stored\n');
    child.kill('SIGKILL');
    await once(child, 'exit');
    const held = join(folder, 'jobs/.held');
    const [left = ''] = readdirSync(held);
    expect(readFileSync(join(held, left, 'work/left.txt'), 'utf8')).toBe('evidence\n');
    const [own, client] = [server, store];
    server = openEmbeddedStore({ file: join(folder, 'store') });
    store = server.connect();
    try {
      await using bench = await openBench({ sandbox: 'auto' }, { folder, holds: book() });
      await until(() => (existsSync(join(held, left)) ? undefined : true), 'the workspace to go');
      expect((await requestNow()).hold).toMatchObject({ count: 0, held: [] });
      const { log } = await failedBuild(bench, 'true');
      expect((await requestNow()).hold.held, log).toHaveLength(1);
      expect(inHeld(bench)).toHaveLength(1);
    } finally {
      await server.close();
      [server, store] = [own, client];
    }
  } finally {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
});
