/** Processor time, not wall time: the machine may be busy. The bounds are several times what a quiet one needs. */
import { describe, expect, it } from 'vitest';
import { BOMBS, KNOWN_JOBS, misspeltJobs } from './bombs.ts';
import { layoutOf } from './fixture.ts';

describe('what a layout costs', () => {
  it('is under half a second for 1000 jobs and 1000 misspelt ones, each an error', () => {
    const { layout, milliseconds } = measured(() =>
      layoutOf({ config: KNOWN_JOBS, app: misspeltJobs(1000) }),
    );
    expect(layout.errors).toHaveLength(1000);
    expect(layout.errors[0]?.text).toContain('did you mean "functional-tests-py0000"?');
    expect(milliseconds).toBeLessThan(500);
  });

  it.each(BOMBS)('is bounded for %s', (_name, text) => {
    expect(text.length).toBeLessThan(1_048_576);
    const { milliseconds } = measured(() => layoutOf({ config: KNOWN_JOBS, app: text }));
    expect(milliseconds).toBeLessThan(2000);
  });

  it('is not paid for mistakes beyond the first thousand of a file', () => {
    const text = '- job:\n    name: a\n    name: b\n'.repeat(20_000);
    const { errors } = layoutOf({ app: text });
    expect(errors.length).toBeLessThan(1100);
    expect(errors.map(({ text: each }) => each)).toContain(
      'the file has more than 1000 mistakes; the rest is not read',
    );
  });
});

function measured<T>(make: () => T): { readonly layout: T; readonly milliseconds: number } {
  const before = process.threadCpuUsage();
  const layout = make();
  const { user, system } = process.threadCpuUsage(before);
  return { layout, milliseconds: (user + system) / 1000 };
}
