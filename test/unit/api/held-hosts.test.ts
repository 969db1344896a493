/** What the documents of hosts and of requests to hold them say, and to whom. */
import { expect, test } from 'vitest';
import { holdDocument } from '../../../src/api/holds.ts';
import { nodesDocument } from '../../../src/api/nodes.ts';
import { SAMPLE_HOLDS, sampleNodes } from '../web/sample-hosts.ts';
import { at, uuidOf } from '../web/sample-item.ts';

const seconds = (time: string) => Math.floor(Number(BigInt(time) / 1_000_000_000n));
const BUILD = uuidOf('schema', 'build', '1', 'unit-tests', '1');

test('a host that is held for a failed build says for which, since when, until when and why', () => {
  const [held] = nodesDocument(sampleNodes(), 'main', SAMPLE_HOLDS);
  expect(held).toMatchObject({
    ...{ id: 'arm-1', state: 'hold', comment: 'why does it fail?', state_time: seconds(at(-180)) },
    gatehouse: {
      held: {
        ...{ request: '0000000001', build: BUILD },
        ...{ since: seconds(at(-180)), until: seconds(at(3420)) },
      },
    },
  });
});

test('of a host that is held for another tenant the reason, the build and the request are not said', () => {
  const [own, foreign] = nodesDocument(sampleNodes(), 'main', SAMPLE_HOLDS);
  expect(foreign).toMatchObject({ state: 'hold', comment: 'held for another tenant' });
  expect(foreign?.gatehouse.held).toEqual({
    ...{ since: own?.state_time, request: null, build: null, until: null },
  });
  const others = JSON.stringify(nodesDocument(sampleNodes(), 'other', []));
  expect(others).not.toContain('why does it fail?');
  expect(others).not.toContain('secret plans');
  expect(others).not.toContain(BUILD);
});

test('the reason of a person who took a host out of service is for all', () => {
  const { hosts } = sampleNodes();
  const state = { held: { reason: 'new disks', since: at(0) } };
  const taken = nodesDocument({ hosts: hosts.map(each => ({ ...each, state })) }, 'other', []);
  expect(new Set(taken.map(({ comment }) => comment))).toEqual(new Set(['new disks']));
});

test('what is wrong with a host comes before the zone that no executor is in', () => {
  const unreached = 'no executor of zone dmz is running';
  const [host] = sampleNodes().hosts;
  if (host === undefined) expect.unreachable();
  const comment = (reason: string) => {
    const trouble = { reason, since: at(0), tries: 0, retryAt: at(0) };
    return nodesDocument({ hosts: [{ ...host, unreached, state: { trouble } }] }, 'main', [])[0]?.comment;
  };
  expect(comment('its executor is gone')).toBe(`its executor is gone; ${unreached}`);
  expect(comment(unreached)).toBe(unreached);
});

test('a request says until when it holds each build', () => {
  const { id, hold } = SAMPLE_HOLDS[0]!;
  const until = { build: BUILD, since: seconds(at(-180)), until: seconds(at(3420)), workspace: null };
  const [held, kept] = holdDocument(id, hold).gatehouse.held;
  expect(held).toEqual(until);
  expect(kept?.workspace).toEqual({ executor: 'ci1', path: '/jobs/.held/x', bytes: 4096 });
  expect(holdDocument(id, hold).nodes.map(({ nodes }) => nodes)).toEqual([['arm-1'], []]);
  expect(holdDocument(id, { ...hold, expiration: 0 }).gatehouse.held[0]).toEqual({ ...until, until: null });
});
