/**
 * Lines of `go test -json`:
 *
 *     {"Action":"output","Package":"acme/app","Test":"TestLogin","Output":"login_test.go:9: expected 401\n"}
 *     {"Action":"fail","Package":"acme/app","Test":"TestLogin","Elapsed":0.02}
 *
 * A test with subtests sums them up and is no case of its own. A package that failed without a test (it does not compile) is one.
 */
import { lineReader } from './read-lines.ts';
import type { ReportFormat, ReportReader } from './report-reader.ts';
import type { CaseCollector, TestCase } from './test-cases.ts';

/** Files with JSON, a line each, that begin with an event of `go test`. */
export const GO_TEST: ReportFormat = {
  named: /\.(?:json|jsonl|ndjson|log)$/i,
  isIn: head => /^\{[^\n]*"Action":"[a-z-]+"[^\n]*"(?:Package|ImportPath)":/.test(head),
  reader: goTestReader,
};

const STATUS: ReadonlyMap<string, TestCase['status']> = new Map([
  ['pass', 'passed'],
  ['fail', 'failed'],
  ['skip', 'skipped'],
]);
/** Tests whose output is kept while they run. */
const MOST_OPEN = 1_000;
/** Names of tests with subtests that are remembered until they end. */
const MOST_PARENTS = 10_000;
/** Characters of output kept for each. */
const OUTPUT = 1_000;

function goTestReader(cases: CaseCollector): ReportReader {
  const output = new Map<string, string>();
  const parents = new Set<string>();
  const failedPackages = new Set<string>();

  function onEnd(suite: string, test: string, status: TestCase['status'], ms: number | null): void {
    const key = `${suite} ${test}`;
    const message = output.get(key) ?? '';
    output.delete(key);
    if (test === '') {
      const isNew = status === 'failed' && !failedPackages.has(suite);
      if (isNew) add({ suite, name: 'the package', status, ms, message });
      return;
    }
    const above = test.lastIndexOf('/');
    if (above > 0 && parents.size < MOST_PARENTS) parents.add(`${suite} ${test.slice(0, above)}`);
    if (status === 'failed' && failedPackages.size < MOST_PARENTS) failedPackages.add(suite);
    if (!parents.delete(key)) add({ suite, name: test, status, ms, message });
  }

  function add(found: TestCase): void {
    if (!cases.add(found)) throw new Error('it has more test cases than are read');
  }

  function keepOutput(key: string, text: string): void {
    const known = output.get(key);
    if (known === undefined && output.size >= MOST_OPEN) return;
    if (/^\s*(?:=== |--- |FAIL|PASS|ok\s)/.test(text)) return;
    if ((known ?? '').length < OUTPUT) output.set(key, ((known ?? '') + text).slice(0, OUTPUT));
  }

  const lines = lineReader(line => {
    const event = parsed(line);
    if (event === undefined) return;
    const {
      Action: action,
      Package: suite = 'tests',
      Test: test = '',
      Output: text,
      Elapsed: elapsed,
    } = event;
    if (action === 'output' && typeof text === 'string') keepOutput(`${suite} ${test}`, text);
    const status = STATUS.get(String(action));
    if (status === undefined) return;
    onEnd(String(suite), String(test), status, typeof elapsed === 'number' ? elapsed * 1000 : null);
  });
  return lines;
}

/** Undefined: the line is no event; compilers and tests print between them. */
function parsed(line: string): { readonly [name: string]: unknown } | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    const value: unknown = JSON.parse(line);
    return Object(value);
  } catch {
    return undefined;
  }
}
