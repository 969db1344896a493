import { describe, expect, it } from 'vitest';
import type { ProcessedEvent } from '../../../../src/driver/source.ts';
import { parseNanoseconds } from '../../../../src/lib/clock.ts';
import { derivedUuid, spanIdOf, traceIdOf } from '../../../../src/lib/ids.ts';
import type { ChangeKey, ChangeRecord } from '../../../../src/model/change.ts';
import type { TriggerEvent } from '../../../../src/model/event.ts';
import { countOwnReports, cycleText, withOwnReports } from '../../../../src/scheduler/changes/own-reports.ts';
import { proposedChange } from '../../../fake/queue-item.ts';

const NOW = parseNanoseconds('1795000000000000000');
const CHANGE = proposedChange('1');
const read = (change = CHANGE): ChangeRecord => ({
  ...{ change, status: 'open', dependsOn: [], unresolvedDependencies: [], facts: {}, fetchedAt: NOW },
});

/** @param reports names of reports of ours; null: something that another did. */
function processed(reports: readonly (string | null)[], change = CHANGE): ProcessedEvent {
  const uuid = derivedUuid('event');
  const event: TriggerEvent = {
    uuid,
    connection: 'local',
    driver: 'fake',
    type: 'status',
    project: change.project,
    branch: change.branch,
    ref: change.ref,
    change,
    facts: {},
    configMayHaveChanged: [],
    branchesChanged: false,
    receivedAt: NOW,
    sampled: false,
    span: { traceId: traceIdOf(uuid), spanId: spanIdOf(uuid) },
  };
  const events = reports.map(name => (name === null ? event : { ...event, ownReport: name }));
  return { events, changes: [read(change)], updated: [], memory: [], refusals: [] };
}

/** A host's events in the order in which they are processed, with what is stored of the change in between. */
function host() {
  let stored: ChangeRecord | undefined;
  return {
    see(reports: readonly (string | null)[], change = CHANGE): readonly TriggerEvent[] {
      const record = (key: ChangeKey) => (stored?.change.key === key ? stored : undefined);
      const { events, changes } = countOwnReports(processed(reports, change), record);
      stored = changes[0];
      return events;
    },
    get counts() {
      return stored?.ownReports;
    },
  };
}

describe('events of reports of ours', () => {
  it('are counted by name, over readings, until another does something', () => {
    const { see } = host();
    const inARow = (events: readonly TriggerEvent[]) => events.map(each => each.ownReportsInARow);
    expect(inARow(see(['acme/check', 'acme/gate', 'acme/check']))).toEqual([1, 1, 2]);
    expect(inARow(see(['acme/check']))).toEqual([3]);
    expect(inARow(see(['acme/check', null, 'acme/check']))).toEqual([4, undefined, 1]);
    expect(inARow(see(['acme/gate']))).toEqual([1]);
  });

  it('begin anew with another revision', () => {
    const { see } = host();
    see(['acme/check', 'acme/check']);
    const next = proposedChange('1', 'another commit');
    expect(see(['acme/check'], next)).toMatchObject([{ ownReportsInARow: 1 }]);
  });

  it('leave nothing in the record once another has done something', () => {
    const world = host();
    world.see(['acme/check']);
    expect(world.counts).toEqual({ 'acme/check': 1 });
    world.see([null]);
    expect(world.counts).toBeUndefined();
  });

  it('stay in the record when a reading shows no event, and when the change is fetched again', () => {
    const world = host();
    world.see(['acme/check']);
    world.see([]);
    expect(world.counts).toEqual({ 'acme/check': 1 });
    expect(withOwnReports(read(), { ...read(), ownReports: { 'acme/check': 1 } }).ownReports).toEqual({
      'acme/check': 1,
    });
  });

  it('have 100 names at most, the newest', () => {
    const world = host();
    world.see(Array.from({ length: 105 }, (_, at) => `label ${at}`));
    expect(Object.keys(world.counts ?? {})).toEqual(
      Array.from({ length: 100 }, (_, at) => `label ${at + 5}`),
    );
  });

  it('trigger pipelines ten times in a row, and no more', () => {
    const cycle = Array.from({ length: 22 }, (_, at) => (at % 2 === 0 ? 'acme/check' : 'acme/gate'));
    const events = host().see(cycle);
    expect(events.slice(0, 20).map(cycleText)).toEqual(Array.from({ length: 20 }, () => undefined));
    expect(events.slice(20).map(cycleText)).toEqual([
      expect.stringContaining('number 11 of our own reports "acme/check"'),
      expect.stringContaining('number 11 of our own reports "acme/gate"'),
    ]);
  });
});
