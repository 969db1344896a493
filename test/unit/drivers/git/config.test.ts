import { describe, expect, test } from 'vitest';
import { gitDriver } from '../../../../drivers/git/index.ts';
import { movedRef } from '../../../../drivers/git/ref-changes.ts';
import { noteText } from '../../../../drivers/git/reporter.ts';
import { reporterNotes } from '../../../../drivers/git/reporter-config.ts';
import { triggerEvents } from '../../../../src/driver/answer-event.ts';
import type { ParseResult } from '../../../../src/driver/parse-result.ts';
import { parseObjectId } from '../../../../src/git/objects/object-id.ts';
import { parseRefName } from '../../../../src/git/objects/ref-name.ts';
import { parseNanoseconds } from '../../../../src/lib/clock.ts';
import { derivedUuid, parseUuid } from '../../../../src/lib/ids.ts';
import type { ChangeRecord } from '../../../../src/model/change.ts';
import type { TriggerEvent } from '../../../../src/model/event.ts';
import type { Json } from '../../../../src/model/job.ts';
import { projectKey } from '../../../../src/model/project.ts';
import { sampleReport } from '../../../fake/report.ts';

const { config } = gitDriver;
const project = projectKey({ connection: 'local', name: 'acme/app' });
const now = parseNanoseconds('1795000000000000000');
const one = parseObjectId('1'.repeat(40));

function value(result: ParseResult<Json>): Json {
  if (result.kind === 'invalid') throw new Error(JSON.stringify(result.problems));
  return result.value;
}

function problems(result: ParseResult<Json>): readonly string[] {
  return result.kind === 'ok' ? [] : result.problems.map(({ path, text }) => `${path.join('.')}: ${text}`);
}

/** A branch or tag that came to be, or went. */
function moved(ref: string, deleted = false): TriggerEvent {
  const branch = ref.startsWith('refs/heads/') ? { branch: ref.slice('refs/heads/'.length) } : {};
  const move = {
    ref: parseRefName(ref),
    ...branch,
    before: deleted ? one : null,
    after: deleted ? null : one,
  };
  const event = {
    uuid: parseUuid('1'.repeat(32)),
    connection: 'local',
    deliveryId: 'x',
    type: 'refs-changed',
    payload: {},
    receivedAt: now,
    storedAt: now,
    sampled: true,
  };
  return triggerEvents(event, 'git', [movedRef(project, move)])[0] ?? expect.unreachable();
}

const TAKER = { tenant: 'acme', pipeline: 'check' };

function verdict(trigger: Json, event: TriggerEvent) {
  return config.matches(value(config.parseTrigger(trigger)), event, undefined, TAKER);
}

describe('a trigger', () => {
  test('matches branches from the start, as Zuul does', () => {
    expect(verdict({ event: 'ref-updated', branch: 'stable' }, moved('refs/heads/stable/1.0'))).toEqual({
      met: true,
      text: 'event ref-updated, branch stable/1.0 matches stable',
    });
    expect(verdict({ event: 'ref-updated', branch: 'stable' }, moved('refs/heads/unstable'))).toEqual({
      met: false,
      text: 'branch unstable does not match stable',
    });
  });

  test('on a branch is no trigger on a tag', () => {
    expect(verdict({ event: 'ref-updated', branch: '.*' }, moved('refs/tags/v1')).met).toBe(false);
    expect(verdict({ event: 'ref-updated', ref: ['^refs/tags/v', '^x'] }, moved('refs/tags/v1')).met).toBe(
      true,
    );
    expect(verdict({ event: 'ref-updated', ref: '^refs/tags/' }, moved('refs/heads/master')).met).toBe(false);
  });

  test('ignores deletions by default', () => {
    expect(verdict({ event: 'ref-updated' }, moved('refs/heads/x', true))).toEqual({
      met: false,
      text: 'refs/heads/x was deleted and deletions are ignored',
    });
    expect(verdict({ event: 'ref-updated', 'ignore-deletes': false }, moved('refs/heads/x', true)).met).toBe(
      true,
    );
  });

  test('says what is wrong with it, and where', () => {
    expect(problems(config.parseTrigger({ event: ['approved', 'aproved'] }))).toEqual([
      expect.stringMatching(/^event\.1: .*did you mean "approved"/),
    ]);
    expect(problems(config.parseTrigger({ event: 'approved', brnach: 'x' }))).toEqual([
      expect.stringMatching(/^brnach: unknown key "brnach".*did you mean "branch"/),
    ]);
    expect(problems(config.parseTrigger({ event: 'ref-updated', ref: ['ok', '(?=x)'] }))).toEqual([
      expect.stringMatching(/^ref\.1: .*lookaround/),
    ]);
    expect(problems(config.parseTrigger({ event: 'approved', ref: '^refs/tags/' }))).toEqual([
      expect.stringMatching(/^ref: .*ref-updated/),
    ]);
    expect(problems(config.parseTrigger({}))).toEqual([expect.stringMatching(/^: .*needs "event"/)]);
    expect(problems(config.parseTrigger({ event: [] }))).toEqual([expect.stringMatching(/^event: /)]);
    expect(problems(config.parseTrigger('approved'))).toEqual([
      expect.stringMatching(/must be a mapping/),
      expect.stringMatching(/needs "event"/),
    ]);
    expect(problems(config.parseTrigger({ event: 'approved', 'ignore-deletes': 'no' }))).toEqual([
      expect.stringMatching(/^ignore-deletes: .*true or false/),
    ]);
  });
});

describe('a requirement', () => {
  const change = moved('refs/heads/x').change;
  const record = (status: ChangeRecord['status'], approved: boolean): ChangeRecord => ({
    change,
    status,
    dependsOn: [],
    unresolvedDependencies: [],
    facts: { approved, 'current-patchset': true },
    fetchedAt: now,
  });
  const meets = (written: Json, of: ChangeRecord) =>
    config.meets(value(config.parseRequirement(written)), of, now);

  test('holds when all of it holds, and names the first that does not', () => {
    const all = { approved: true, open: true, 'current-patchset': true };
    expect(meets(all, record('open', true)).met).toBe(true);
    expect(meets(all, record('open', false))).toEqual({
      met: false,
      text: 'its current commit is not approved',
    });
    expect(meets(all, record('merged', true))).toEqual({ met: false, text: 'it is not open' });
  });

  test('may ask for the opposite', () => {
    expect(meets({ approved: false }, record('open', false))).toEqual({
      met: true,
      text: 'its current commit is not approved',
    });
    expect(meets({ open: false }, record('open', false))).toEqual({ met: false, text: 'it is open' });
  });

  test('of nothing is always met', () => {
    expect(meets(null, record('abandoned', false)).met).toBe(true);
  });

  test('with an unknown key suggests the nearest', () => {
    expect(problems(config.parseRequirement({ aproved: true }))).toEqual([
      expect.stringMatching(/did you mean "approved"/),
    ]);
    expect(problems(config.parseRequirement({ approved: 1 }))).toEqual([
      expect.stringMatching(/^approved: .*true or false/),
    ]);
  });
});

describe('a reporter', () => {
  test('merges only when configured to', () => {
    expect(config.landingMode(value(config.parseReporter({ merge: true })))).toBe('push');
    expect(config.landingMode(value(config.parseReporter(null)))).toBeNull();
  });

  test('notes the end and not the start by default', () => {
    const plain = value(config.parseReporter({}));
    expect(reporterNotes(plain, 'start')).toBe(false);
    expect(reporterNotes(plain, 'failure')).toBe(true);
    expect(reporterNotes(value(config.parseReporter({ note: false })), 'failure')).toBe(false);
    expect(reporterNotes(value(config.parseReporter({ note: true })), 'start')).toBe(true);
  });

  test('writes one paragraph that names the item', () => {
    const text = noteText(
      sampleReport({
        item: derivedUuid('item'),
        place: { tenant: 'acme', pipeline: 'check', queue: null },
        text: 'Build succeeded (check).\n\n- unit : SUCCESS  \n\n\nfooter',
      }),
    );
    expect(text).toBe(
      `Build succeeded (check).\n- unit : SUCCESS\nfooter\nGatehouse: acme check success SUCCESS, item ${derivedUuid('item')}`,
    );
  });
});
