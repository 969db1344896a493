import { diag } from '@opentelemetry/api';
import { describe, expect, test } from 'vitest';
import { captureSdkDiagnostics, exportDiagnostics } from '../../../../src/tracing/otlp/sdk-complaints.ts';

const TEXT = 'Received Partial Success response:';

function heard(...said: readonly [string, ...unknown[]]) {
  captureSdkDiagnostics();
  const diagnostics = exportDiagnostics();
  diagnostics.during(() => diag.warn(...said));
  return diagnostics.refusal();
}

describe('what the exporter says of an answer', () => {
  test('is a refusal when spans were refused or something is said', () => {
    expect(heard(TEXT, '{"rejectedSpans":2,"errorMessage":"too large"}')).toEqual({
      spans: 2,
      text: 'too large',
    });
    expect(heard(TEXT, '{}')).toBeUndefined();
    expect(heard('something else')).toBeUndefined();
  });

  test.each(['[object Object]', 'null', '3'])(
    'is not understood, and breaks nothing, when it is %s',
    json => {
      expect(heard(TEXT, json)).toEqual({
        spans: 0,
        text: 'the answer cannot be read; is this a collector?',
      });
    },
  );
});
