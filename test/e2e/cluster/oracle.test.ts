/** The oracles of the other stories can find a fault. */
import { describe, expect, test } from 'vitest';
import { parseNanoseconds, systemClock } from '../../../src/lib/clock.ts';
import { derivedUuid } from '../../../src/lib/ids.ts';
import { pipelineEventCodec } from '../../../src/model/codec/records.ts';
import { check, create, remove, set } from '../../../src/store/port.ts';
import { openZooKeeper } from '../../../src/store/zookeeper/source.ts';
import { SILENT } from '../../fake/silent-log.ts';
import { startZooKeeper } from '../../fake/zookeeper/server.ts';
import { describeOnZooKeeper } from '../../setup/zookeeper.ts';
import { leftovers } from './leftovers.ts';
import { replay } from './store-replay.ts';
import { takeoverIn } from './term-watch.ts';
import { type LoggedOperation, type LoggedTransaction, openTransactionLog } from './transaction-log.ts';
import { waitFor } from './wait-for.ts';
import { workProblems } from './work-oracle.ts';

const uuidOf = (name: string) => derivedUuid(name);
const NOTHING = Buffer.alloc(0);
const GATE = '/g/tenants/acme/pipelines/gate';
const made = (path: string, ephemeral = false): LoggedOperation => ({
  kind: 'create',
  path,
  data: NOTHING,
  ephemeral,
});
const put = (path: string): LoggedOperation => ({ kind: 'set', path, data: NOTHING, version: 1 });

/** One transaction per entry, 100 ms apart. */
function logOf(
  ...entries: readonly (readonly [session: string, ...LoggedOperation[]])[]
): readonly LoggedTransaction[] {
  return entries.map(([session, ...operations], index) => ({
    session,
    zxid: BigInt(index),
    at: index * 100,
    kind: operations.length > 0 ? 'write' : 'session-ends',
    operations,
  }));
}

describe('the replay of a store', () => {
  test('finds a commit by a session that is not in charge any more', () => {
    const log = logOf(
      ['a', put(`${GATE}/epoch`)],
      ['a', put(`${GATE}/lastOp`)],
      ['b', put(`${GATE}/epoch`)],
      ['a', put(`${GATE}/lastOp`)],
    );
    expect(replay(log).trespasses).toEqual([`a wrote under ${GATE} at 3, held by b`]);
    expect(replay(log.slice(0, 3)).trespasses).toEqual([]);
    expect(takeoverIn(log, GATE, new Set(['b']), 0)).toEqual({ by: 'a', raisedMs: 0, committedMs: 100 });
    expect(takeoverIn(log, GATE, new Set(['a']), 0)).toBeUndefined();
  });

  test('finds what is no longer needed, and forgets what goes with its session', () => {
    const log = logOf(
      [
        'a',
        made(`${GATE}/items/1`),
        made(`${GATE}/items/2`),
        made('/g/outbox/spans/1'),
        made('/g/requests/build/default/claimed/1', true),
      ],
      ['a', { kind: 'delete', path: `${GATE}/items/2` }],
      ['a'],
    );
    expect(leftovers(replay(log), '/g')).toEqual([
      `${GATE}/items/1 is left over`,
      '/g/outbox/spans/1 is left over',
    ]);
  });
});

describe('the judge of work', () => {
  const build = uuidOf('build');
  const claim = `/g/requests/build/default/claimed/${build}`;
  const result: LoggedOperation = {
    kind: 'create',
    path: `${GATE}/events/1`,
    data: Buffer.from(
      pipelineEventCodec.encode({
        kind: 'build-result',
        uuid: uuidOf('event'),
        item: uuidOf('item'),
        buildset: uuidOf('buildset'),
        build,
        at: parseNanoseconds('1'),
        result: 'SUCCESS',
        worker: 'executor',
        execution: null,
      }),
    ),
    ephemeral: false,
  };

  test('finds a result from a process that does not have the build, and a second one', () => {
    const drop: LoggedOperation = { kind: 'delete', path: claim };
    const good = logOf(['a', made(claim, true)], ['a'], ['b', made(claim, true)], ['b', drop, result]);
    expect(workProblems(good)).toEqual([]);
    expect(workProblems(logOf(['a', made(claim, true)], ['b', result], ['a', drop, result]))).toEqual([
      `b answered for build ${build}, which a had`,
      `build ${build} has 2 results`,
    ]);
  });

  test('finds a session that removes a node of another, and one that stands in a line twice', () => {
    expect(workProblems(logOf(['a', made(claim, true)], ['b', { kind: 'delete', path: claim }]))).toEqual([
      `b removed ${claim}, which was a's`,
    ]);
    const places = logOf(
      ['a', made(`${GATE}/lock/x-a-lock-1`, true)],
      ['a', made(`${GATE}/lock/y-a-lock-2`, true)],
    );
    expect(workProblems(places)).toEqual([`2 places in ${GATE}/lock a`]);
  });
});

describeOnZooKeeper('the transaction log of a server', () => {
  test('has every write with its session, also those of before a restart', {
    timeout: 60_000,
  }, async () => {
    await using server = await startZooKeeper();
    using log = await openTransactionLog(server.dataDirectory);
    await using source = openZooKeeper({
      hosts: [{ host: server.host, port: server.port }],
      sessionTimeoutMs: 10_000,
      auth: undefined,
      tls: undefined,
      clock: systemClock(),
      log: SILENT,
      random: Math.random,
    });
    const store = await source.connect('test');
    const heard: LoggedOperation[] = [];
    using _listening = log.onTransaction(({ operations }) => void heard.push(...operations));
    await store.multi([create('/a', Buffer.from('x'))]);
    await store.multi([
      check('/a'),
      set('/a', Buffer.from('y')),
      create('/a/b', NOTHING, { ephemeral: true, sequential: true }),
    ]);
    await store.multi([remove('/nowhere')]).catch(() => undefined);
    await server.restart();
    await waitFor('the session to be back', () => store.sessionState === 'connected');
    await store.multi([remove('/a/b0000000000')]);
    await waitFor('the last to be heard of', () => heard.some(each => each.kind === 'delete'), 10_000);
    const logged = log.transactions
      .filter(each => each.session === store.sessionId)
      .map(({ kind, operations }) =>
        [kind, ...operations.map(each => `${each.kind} ${each.path}`)].join(' '),
      );
    expect(logged).toEqual([
      'session-begins',
      'write create /a',
      'write check /a set /a create /a/b0000000000',
      'refused',
      'write delete /a/b0000000000',
    ]);
  });
});
