import { expect, test } from 'vitest';
import { gitDriver } from '../../../../drivers/git/index.ts';
import { derivedUuid, spanIdOf, traceIdOf } from '../../../../src/lib/ids.ts';
import type { TriggerEvent } from '../../../../src/model/event.ts';
import type { Json } from '../../../../src/model/job.ts';
import type { Pipeline } from '../../../../src/model/pipeline.ts';
import { matchDecision, matchPipelines } from '../../../../src/scheduler/tenant/tenant-matching.ts';
import { at, proposedChange } from '../../../fake/queue-item.ts';

function trigger(value: Json): Pipeline['triggers'][number] {
  const parsed = gitDriver.config.parseTrigger(value);
  if (parsed.kind !== 'ok') throw new Error(parsed.problems[0].text);
  return { connection: 'local', config: parsed.value, definedAt: 'x' };
}

const pipelineOf = (name: string, triggers: Pipeline['triggers']) =>
  ({ name, triggers }) as unknown as Pipeline;
const change = proposedChange('master/login');
const uuid = derivedUuid('event');
const event: TriggerEvent = {
  uuid,
  connection: 'local',
  driver: 'git',
  type: 'approved',
  project: change.project,
  branch: 'master',
  ref: null,
  change,
  facts: {},
  configMayHaveChanged: [],
  branchesChanged: false,
  receivedAt: at(0),
  sampled: true,
  span: { traceId: traceIdOf(uuid), spanId: spanIdOf(uuid) },
};

test('every pipeline says whether it wants an event, and why', () => {
  const pipelines = [
    pipelineOf('check', [trigger({ event: 'proposed' })]),
    pipelineOf('gate', [trigger({ event: 'approved' })]),
    pipelineOf('other', [{ connection: 'elsewhere', config: {}, definedAt: 'x' }]),
  ];
  const matches = matchPipelines(event, { tenant: 'acme', pipelines }, gitDriver, undefined);
  expect(matches.map(each => [each.pipeline.name, each.matched])).toEqual([
    ['check', false],
    ['gate', true],
    ['other', false],
  ]);
  const decisions = matches.map(match => matchDecision(match, event, 'acme', at(1)));
  expect(decisions.map(each => each.code)).toEqual([
    'no-trigger-matched',
    'trigger-matched',
    'no-trigger-matched',
  ]);
  expect(decisions[2]?.text).toBe('approved: not for pipeline other, no trigger for connection local');
  expect(decisions[0]?.text).toMatch(/^approved: not for pipeline check, .*proposed/);
});
