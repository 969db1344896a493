/** Our copy of OpenTelemetry's names against the package that publishes them, and where they stand on spans. */
import * as published from '@opentelemetry/semantic-conventions/incubating';
import { describe, expect, test } from 'vitest';
import type { SpanRecord } from '../../../src/model/span.ts';
import { ALLOWED } from '../../../src/tracing/allowed-attributes.ts';
import { ATTRIBUTE } from '../../../src/tracing/attributes.ts';
import { CONVENTION } from '../../../src/tracing/conventions.ts';
import { itemSpans } from '../../../src/tracing/spans/item-spans.ts';
import type { SpanOptions } from '../../../src/tracing/spans/span-options.ts';
import type { CicdResult } from '../../../src/tracing/status.ts';
import { failedStory, resetAndMergedStory } from '../../fake/item-stories.ts';

const NAMES: ReadonlySet<unknown> = new Set(
  Object.entries(published).flatMap(([constant, value]) => (constant.startsWith('ATTR_') ? [value] : [])),
);

/** Values of the constants whose name begins so. */
function values(prefix: string): readonly unknown[] {
  return Object.entries(published).flatMap(([constant, value]) =>
    constant.startsWith(prefix) ? [value] : [],
  );
}

describe('names of the conventions', () => {
  test.each(Object.entries(CONVENTION))('%s is published as %s', (_key, name) => {
    expect(NAMES).toContain(name);
  });

  test('that we use for attributes of our own do not exist there', () => {
    const ours = Object.values(ATTRIBUTE).filter(name => name.startsWith('gatehouse.'));
    expect(ours.filter(name => NAMES.has(name))).toEqual([]);
    const others = Object.values(ATTRIBUTE).filter(name => !name.startsWith('gatehouse.'));
    expect(others.toSorted()).toEqual(Object.values(CONVENTION).toSorted());
  });

  test('of results are the published ones, all of them, for runs as for tasks', () => {
    // Complete by its type.
    const ours: { readonly [result in CicdResult]: true } = {
      success: true,
      failure: true,
      error: true,
      timeout: true,
      skip: true,
      cancellation: true,
    };
    expect(Object.keys(ours).toSorted()).toEqual(values('CICD_PIPELINE_RESULT_VALUE_').toSorted());
    expect(Object.keys(ours).toSorted()).toEqual(values('CICD_PIPELINE_TASK_RUN_RESULT_VALUE_').toSorted());
  });
});

const OPTIONS: SpanOptions = {
  names: 'gatehouse',
  urls: {
    item: item => `http://gate/item/${item.uuid}`,
    build: (_, build) => `http://gate/build/${build}`,
    log: (_, build) => `http://gate/log/${build}`,
  },
  providers: new Map([['local', 'git']]),
};
const LIVES = [resetAndMergedStory().item, failedStory().item];

const kindOf = (span: SpanRecord) => String(span.attributes[ATTRIBUTE.spanType]);
const of = (...kinds: readonly string[]) =>
  LIVES.flatMap(item => itemSpans(item, OPTIONS)).filter(span => kinds.includes(kindOf(span)));

describe('on the spans of an item', () => {
  test('every span says which run it belongs to, in our words and in theirs', () => {
    for (const item of LIVES) {
      for (const span of itemSpans(item, OPTIONS)) {
        expect(span.attributes, span.name).toMatchObject({
          'gatehouse.tenant': item.tenant,
          'gatehouse.pipeline': item.pipeline,
          'gatehouse.item.id': item.uuid,
          'gatehouse.event.id': item.origin.event,
          'cicd.pipeline.name': item.pipeline,
          'cicd.pipeline.run.id': item.uuid,
          'cicd.pipeline.run.url.full': `http://gate/item/${item.uuid}`,
        });
      }
    }
  });

  test('the root is a run: what was done, with which result', () => {
    expect(of('QueueItem').map(span => span.attributes['cicd.pipeline.result'])).toEqual([
      'success',
      'failure',
    ]);
    const actions = values('CICD_PIPELINE_ACTION_NAME_VALUE_');
    for (const span of of('QueueItem')) {
      expect(span.kind).toBe('server');
      expect(actions).toContain(span.attributes['cicd.pipeline.action.name']);
    }
  });

  test('a build and all below it say which task they belong to', () => {
    const builds = of('Build');
    expect(builds.length).toBeGreaterThan(6);
    for (const build of builds) {
      expect(build.attributes, build.name).toMatchObject({
        'cicd.pipeline.task.name': build.attributes['gatehouse.job'],
        'cicd.pipeline.task.run.id': build.attributes['gatehouse.build.id'],
        'cicd.pipeline.task.run.url.full': `http://gate/build/${build.attributes['gatehouse.build.id']}`,
        'cicd.pipeline.task.run.result': expect.any(String),
      });
    }
    for (const span of of('JobExecution', 'Playbook', 'BuildCheckout')) {
      expect(span.attributes, span.name).toMatchObject({
        'cicd.pipeline.task.name': span.attributes['gatehouse.job'],
        'cicd.pipeline.task.run.id': span.attributes['gatehouse.build.id'],
        'cicd.worker.name': span.attributes['gatehouse.worker'],
      });
    }
  });

  test('a build that an executor took says where its log is', () => {
    for (const { attributes, name } of of('Build')) {
      const log = `http://gate/log/${attributes['gatehouse.build.id']}`;
      expect(attributes['gatehouse.log_url'], name).toBe(
        attributes['cicd.worker.name'] === undefined ? undefined : log,
      );
    }
  });

  test('item, buildsets and builds say what was tested', () => {
    for (const span of of('QueueItem', 'BuildSet', 'Merge', 'Build', 'JobExecution', 'Report')) {
      expect(span.attributes, span.name).toMatchObject({
        'vcs.repository.name': 'acme/app',
        'vcs.provider.name': 'git',
        'vcs.change.id': expect.any(String),
        'vcs.ref.head.name': expect.any(String),
        'vcs.ref.head.revision': expect.stringMatching(/^[0-9a-f]{40}$/),
        'vcs.ref.base.name': 'master',
      });
      expect(values('VCS_REF_HEAD_TYPE_VALUE_')).toContain(span.attributes['vcs.ref.head.type']);
    }
  });

  test('failed ones have an error type, and no others', () => {
    for (const span of LIVES.flatMap(item => itemSpans(item, OPTIONS))) {
      expect(span.attributes['error.type'] !== undefined, span.name).toBe(span.status.code === 'error');
    }
  });
});

test('every kind of span may say which run it belongs to', () => {
  for (const [kind, names] of ALLOWED) expect([...names.values()], kind).toContain('cicd.pipeline.run.id');
});
