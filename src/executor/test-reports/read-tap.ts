/**
 * TAP, the Test Anything Protocol: `ok 1 - name`, `not ok 2 - name # TODO later`. Subtests are indented; a point after deeper ones sums them
 * up and is no case of its own.
 *
 *     TAP version 13
 *     ok 1 - adds
 *     not ok 2 - divides
 *       ---
 *       message: by zero
 *       ...
 */
import { lineReader } from './read-lines.ts';
import type { ReportFormat, ReportReader } from './report-reader.ts';
import type { CaseCollector, TestCase } from './test-cases.ts';

/** `*.tap`, or a text that begins as TAP does. */
export const TAP: ReportFormat = {
  named: /\.(?:tap|txt)$/i,
  isIn: head => /^(?:TAP version \d+|1\.\.\d+|(?:not )?ok\b)/.test(head),
  reader: tapReader,
};

const POINT = /^( *)(not )?ok\b(?: +\d+)?(?: +- +| +)?(.*)$/;
const DIRECTIVE = /(?:^|\s)# *(skip|todo)\b/i;
const DURATION = /^\s+duration_ms: *([\d.]+)/;
const MESSAGE = /^\s+(?:message|error): *(.+)$/;

function tapReader(cases: CaseCollector, file: string): ReportReader {
  let last: { -readonly [Part in keyof TestCase]: TestCase[Part] } | undefined;
  /** Indentations at which points came since the last one further out. */
  let deepest = 0;

  function flush(): void {
    if (last !== undefined && !cases.add(last)) throw new Error('it has more test cases than are read');
    last = undefined;
  }

  function onPoint([, indent = '', not, name = '']: RegExpExecArray): void {
    flush();
    const isSum = indent.length < deepest;
    deepest = indent.length;
    if (isSum) return;
    const directive = DIRECTIVE.exec(name)?.[1];
    const status = directive !== undefined ? 'skipped' : not === undefined ? 'passed' : 'failed';
    last = { suite: file, name: name.replace(/\s*#.*$/, ''), status, ms: null };
  }

  const lines = lineReader(line => {
    const point = POINT.exec(line);
    if (point !== null) return onPoint(point);
    if (/^\s*Bail out!/.test(line)) {
      flush();
      last = { suite: file, name: line.trim(), status: 'failed', ms: null };
    }
    if (last === undefined) return;
    const ms = DURATION.exec(line)?.[1];
    const message = MESSAGE.exec(line)?.[1];
    if (ms !== undefined) last.ms = Number(ms);
    if (message !== undefined) last.message ??= message;
  });
  return {
    write: lines.write,
    end() {
      lines.end();
      flush();
    },
  };
}
