import { JsonTraceSerializer, ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import { describe, expect, test } from 'vitest';
import { utf8, wireFields } from '../../../../src/tracing/otlp/wire.ts';
import { refusalAnswer, traceAnswer } from '../../../../src/tracing/otlp-in/trace-answer.ts';

describe('an answer', () => {
  test('is read by OpenTelemetry as what it says', () => {
    for (const rejected of [1, 127, 128, 70_000]) {
      const expected = { partialSuccess: { rejectedSpans: rejected, errorMessage: 'too many'.repeat(40) } };
      const rejection = { rejected, reason: expected.partialSuccess.errorMessage };
      const binary = ProtobufTraceSerializer.deserializeResponse(traceAnswer('protobuf', rejection).body);
      expect(binary).toEqual(expected);
      const text = JsonTraceSerializer.deserializeResponse(traceAnswer('json', rejection).body);
      expect(Number(text.partialSuccess?.rejectedSpans)).toBe(rejected);
    }
  });

  test('is empty when all was taken', () => {
    expect(traceAnswer('protobuf', { rejected: 0, reason: undefined }).body).toHaveLength(0);
    expect(utf8(traceAnswer('json', { rejected: 0, reason: undefined }).body)).toBe('{}');
  });

  test('of a refusal is a status message', () => {
    const [field] = wireFields(refusalAnswer('protobuf', 'no').body);
    expect([field?.number, field?.bytes && utf8(field.bytes)]).toEqual([2, 'no']);
    expect(utf8(refusalAnswer('json', 'no').body)).toBe('{"message":"no"}');
  });
});
