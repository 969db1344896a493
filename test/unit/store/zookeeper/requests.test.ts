import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { check, create, type Operation, remove, StoreError, set } from '../../../../src/store/port.ts';
import { operationBytes } from '../../../../src/store/size.ts';
import { Call, type Recipe } from '../../../../src/store/zookeeper/call.ts';
import { JuteReader, JuteWriter } from '../../../../src/store/zookeeper/jute.ts';
import { setWatches, transaction } from '../../../../src/store/zookeeper/requests.ts';
import { isSessionProof, ServerRefusal } from '../../../../src/store/zookeeper/server-errors.ts';

const frameOf = (recipe: Recipe<unknown>): Buffer => new Call(recipe, () => 0).toBuffer();

describe('requests', () => {
  test('a transaction takes no more on the wire than its operations were counted for', () => {
    const path = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }).map(name => `/${name}`);
    const operation: fc.Arbitrary<Operation> = fc.oneof(
      fc.tuple(path, fc.uint8Array()).map(([where, data]) => create(where, data)),
      fc.tuple(path, fc.uint8Array()).map(([where, data]) => set(where, data)),
      path.map(where => remove(where)),
      path.map(where => check(where)),
    );
    fc.assert(
      fc.property(
        fc.array(operation, { minLength: 1, maxLength: 20 }),
        fc.constantFrom('open' as const, 'creator' as const),
        (operations, access) => {
          const counted = operations.reduce((sum, each) => sum + operationBytes(each), 0);
          expect(frameOf(transaction(operations, access)).byteLength).toBeLessThanOrEqual(counted + 64);
        },
      ),
    );
  });

  test('a call counts as sent when it is written, not when it is made', () => {
    let now = 10;
    const call = new Call(transaction([create('/a')], 'open'), () => now);
    now = 50;
    expect([call.madeAt, call.sentAt]).toEqual([10, undefined]);
    call.header.xid = 7;
    expect(call.toBuffer().readInt32BE(4)).toBe(7);
    expect([call.madeAt, call.sentAt]).toEqual([10, 50]);
  });

  test('watches are set in pieces that every server takes, each path once and in order', () => {
    const paths = Array.from({ length: 11_000 }, (_, index) => `/watched/${'x'.repeat(90)}-${index}`);
    const frames = setWatches(paths).map(frameOf);
    expect(frames.length).toBeGreaterThan(5);
    const seen = frames.flatMap(frame => {
      expect(frame.byteLength).toBeLessThan(132 * 1024);
      const body = new JuteReader(frame.subarray(12));
      body.long();
      for (let list = 0; list < 4; list++) expect(body.int()).toBe(0);
      return body.strings();
    });
    expect(seen).toEqual(paths);
  });

  test('without watches nothing is set', () => {
    expect(setWatches([])).toEqual([]);
  });

  const failedWith = (operations: readonly Operation[], error: number, body: JuteWriter): StoreError => {
    try {
      transaction(operations, 'open').read(error, new JuteReader(body.finish()));
    } catch (failure) {
      if (failure instanceof StoreError) return failure;
      throw failure;
    }
    throw new Error('the answer was read as a success');
  };
  const failedAnswer = (...errors: number[]): JuteWriter => {
    const body = new JuteWriter(64);
    for (const error of errors) body.int(-1).bool(false).int(error).int(error);
    return body.int(-1).bool(true).int(-1);
  };

  test('a multi’s failure is that of the operation that failed, not of those undone with it', () => {
    const three = [create('/a'), set('/b', new Uint8Array(), 0), remove('/c')];
    const failure = failedWith(three, -103, failedAnswer(0, -103, -2));
    expect([failure.code, failure.path, failure.failedOperation]).toEqual(['BadVersion', '/b', 1]);
  });

  test('a multi refused as such, without a body, is a failure', () => {
    expect(failedWith([create('/a'), create('/b')], -112, new JuteWriter(0)).code).toBe('SessionExpired');
  });

  test('only what the leader decided proves a session to be alive', () => {
    for (const number of [0, -101, -103, -108, -110, -111]) expect(isSessionProof(number)).toBe(true);
    for (const number of [-4, -7, -112, -115, -118, -119, -127, -4711])
      expect(isSessionProof(number)).toBe(false);
  });

  test.each([
    [-125, 'Refused', 'QuotaExceeded'],
    [-6, 'Refused', 'Unimplemented'],
    [-4711, 'Refused', 'an error we do not know'],
    [-102, 'Auth', 'NoAuth'],
    [-127, 'ConnectionLoss', 'ThrottledOp'],
    [-118, 'ConnectionLoss', 'SessionMoved'],
  ])('the server’s number %i becomes %s, and is kept as the cause', (number, code, name) => {
    const failure = failedWith([create('/a')], number, new JuteWriter(0));
    expect([failure.code, failure.path]).toEqual([code, '/a']);
    expect(failure.cause).toBeInstanceOf(ServerRefusal);
    expect(String(failure.cause)).toContain(name);
    expect(String(failure.cause)).toContain(`(${number})`);
  });
});
