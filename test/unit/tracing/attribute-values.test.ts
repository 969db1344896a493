import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ALLOWED, type SpanKind } from '../../../src/tracing/allowed-attributes.ts';
import {
  attributesOf,
  eventAttributes,
  LONGEST_LIST,
  LONGEST_TEXT,
} from '../../../src/tracing/attribute-values.ts';
import { ATTRIBUTE } from '../../../src/tracing/attributes.ts';
import { cicdResultOf, errorTypeOf, isFailure, statusOf } from '../../../src/tracing/status.ts';

describe('attributes', () => {
  it('leave out what the kind may not carry', () => {
    expect(attributesOf('Wait', { waitState: 'window', job: 'unit', cicdTask: 'unit' })).toEqual({
      'gatehouse.wait.state': 'window',
    });
  });

  it('leave out what OTLP cannot carry', () => {
    const odd = {
      change: null,
      project: undefined,
      queue: { a: 1 },
      role: ['a', 1],
      left: [],
      resets: Number.NaN,
      eventType: 7n,
      connection: '',
    };
    expect(attributesOf('QueueItem', odd)).toEqual({ 'gatehouse.connection': '' });
  });

  it('lose the userinfo of URLs and the length of novels', () => {
    const { 'cicd.pipeline.run.url.full': url, 'gatehouse.queue': queue } = attributesOf('QueueItem', {
      cicdRunUrl: 'https://ci:hunter2@git.example.org/a',
      queue: 'x'.repeat(5000),
    });
    expect(url).toBe('https://***@git.example.org/a');
    expect(queue).toHaveLength(LONGEST_TEXT);
    expect(
      attributesOf('BuildSet', { jobs: Array.from({ length: 500 }, String) })['gatehouse.jobs'],
    ).toHaveLength(LONGEST_LIST);
  });

  it('are texts, finite numbers, booleans or lists of texts, for any input', () => {
    const kinds = [...ALLOWED.keys()];
    fc.assert(
      fc.property(
        fc.constantFrom(...kinds),
        fc.dictionary(fc.constantFrom(...Object.keys(ATTRIBUTE)), fc.anything()),
        (kind: SpanKind, input) => {
          for (const value of Object.values(attributesOf(kind, input))) {
            const fine = Array.isArray(value)
              ? value.length > 0 && value.every(text => typeof text === 'string' && text.isWellFormed())
              : typeof value === 'boolean' ||
                (typeof value === 'number' && Number.isFinite(value)) ||
                (typeof value === 'string' && value.isWellFormed());
            expect(fine).toBe(true);
          }
        },
      ),
    );
  });

  it('of span events come from a list too', () => {
    expect(eventAttributes({ behind: 'x', token: 'secret', position: 3 })).toEqual({
      'gatehouse.behind': 'x',
      'gatehouse.position': 3,
    });
  });

  it('have names that differ', () => {
    expect(new Set(Object.values(ATTRIBUTE)).size).toBe(Object.keys(ATTRIBUTE).length);
  });
});

describe('the status of a span', () => {
  it.each([
    'FAILURE',
    'TIMED_OUT',
    'POST_FAILURE',
    'RETRY',
    'RETRY_LIMIT',
    'ERROR',
    'NODE_FAILURE',
    'DISK_FULL',
    'MERGE_CONFLICT',
    'MERGE_FAILURE',
    'CONFIG_ERROR',
  ])('is Error for %s, with its type', result => {
    expect(statusOf(result)).toEqual({ code: 'error', message: result });
    expect(errorTypeOf(result)).toBe(result.toLowerCase());
  });

  it.each(['SUCCESS', 'SKIPPED', 'CANCELED', 'SUPERSEDED', 'DEQUEUED', 'NO_JOBS', undefined])(
    'is unset for %s',
    result => {
      expect(statusOf(result)).toEqual({ code: 'unset' });
      expect(errorTypeOf(result)).toBeUndefined();
      expect(isFailure(result)).toBe(false);
    },
  );

  it('says in OpenTelemetry’s words how a run ended', () => {
    expect(
      ['SUCCESS', 'TIMED_OUT', 'CANCELED', 'SKIPPED', 'NODE_FAILURE', 'FAILURE'].map(cicdResultOf),
    ).toEqual(['success', 'timeout', 'cancellation', 'skip', 'error', 'failure']);
  });
});
