/**
 * JUnit's XML, as nearly every test runner writes it; there is no standard:
 *
 *     <testsuites><testsuite name="app"><testcase classname="app.Login" name="refuses" time="0.012">
 *       <failure message="expected 401">…</failure></testcase></testsuite></testsuites>
 *
 * Entities that a file defines itself are not known to the parser, and are an error: no text grows by them.
 */
import { SaxesParser, type SaxesTagPlain } from 'saxes';
import type { ReportFormat, ReportReader } from './report-reader.ts';
import type { CaseCollector, TestCase } from './test-cases.ts';

const DEEPEST = 64;
/** Characters of the text below a failure that are kept. */
const MESSAGE = 1_000;

/** `*.xml` with JUnit's root element. */
export const JUNIT: ReportFormat = {
  named: /\.xml$/i,
  isIn: head => /<(?:testsuites?)[\s>/]/.test(head),
  reader: junitReader,
};

interface OpenCase {
  readonly suite: string;
  readonly name: string;
  readonly ms: number | null;
  status: TestCase['status'];
  message: string;
}

/** What a failure, an error or a skipped test is called. */
const VERDICTS: ReadonlyMap<string, TestCase['status']> = new Map([
  ['failure', 'failed'],
  ['error', 'failed'],
  ['skipped', 'skipped'],
]);

function junitReader(cases: CaseCollector, file: string): ReportReader {
  const parser = new SaxesParser({ xmlns: false, position: false });
  const suites: string[] = [];
  let depth = 0;
  let open: OpenCase | undefined;
  /** Text belongs to the message of the case. */
  let isMessage = false;

  function begin({ name, attributes }: SaxesTagPlain): void {
    depth += 1;
    if (depth > DEEPEST) throw new Error(`elements lie more than ${DEEPEST} deep`);
    if (name === 'testsuite') suites.push(attributes.name ?? suites.at(-1) ?? file);
    else if (name === 'testcase') open = caseOf(attributes, suites.at(-1) ?? file);
    else noteVerdict(name, attributes);
  }

  function noteVerdict(name: string, { message = '', type = '' }: SaxesTagPlain['attributes']): void {
    const status = VERDICTS.get(name);
    if (open === undefined || status === undefined) return;
    open.status = status;
    open.message ||= message || type;
    isMessage = open.message === '';
  }

  function end({ name }: SaxesTagPlain): void {
    depth -= 1;
    if (name === 'testsuite') suites.pop();
    if (VERDICTS.has(name)) isMessage = false;
    if (name !== 'testcase' || open === undefined) return;
    const found = open;
    open = undefined;
    if (!cases.add(found)) throw new Error('it has more test cases than are read');
  }

  function text(some: string): void {
    if (open !== undefined && isMessage && open.message.length < MESSAGE)
      open.message += some.slice(0, MESSAGE);
  }

  parser.on('opentag', begin);
  parser.on('closetag', end);
  parser.on('text', text);
  parser.on('cdata', text);
  return { write: some => void parser.write(some), end: () => void parser.close() };
}

function caseOf({ classname = '', name = '', time }: SaxesTagPlain['attributes'], suite: string): OpenCase {
  const isRepeated = classname === '' || classname === suite || name.startsWith(classname);
  const seconds = time === undefined ? Number.NaN : Number(time.replaceAll(',', ''));
  return {
    suite,
    name: isRepeated ? name : `${classname}.${name}`,
    ms: Number.isNaN(seconds) ? null : seconds * 1000,
    status: 'passed',
    message: '',
  };
}
