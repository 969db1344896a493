/**
 * Reads vitest's JSON reports for `.ci/run`:
 *
 *     again REPORT                  files to run once more, one in a line; none where a second try says nothing
 *     second-try REPORT [AGAIN]     for people: the tests that passed in AGAIN only
 *     count REPORT [AGAIN]          `passed failed skipped`; files of AGAIN count as they are there
 */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** More failures than that are no accident of a busy machine. */
const MOST_FILES = 5;
/** Vitest prints it for errors outside of tests, which no report has. */
const OUTSIDE = /Unhandled (Errors?|Rejections?)|tests were skipped, and this machine/;

const [task, ...paths] = process.argv.slice(2);
const [first, second] = paths.map(file => JSON.parse(readFileSync(file, 'utf8')).testResults);
const isFailed = file => file.status === 'failed';

const tasks = {
  again() {
    const log = `${paths[0]}.log`;
    const failed = first.filter(isFailed);
    if (failed.length > MOST_FILES || (existsSync(log) && OUTSIDE.test(readFileSync(log, 'utf8')))) return [];
    return failed.map(({ name }) => path.relative(process.cwd(), name));
  },
  'second-try'() {
    const names = first.filter(isFailed).flatMap(file => {
      const again = second?.find(({ name }) => name === file.name);
      if (again === undefined || isFailed(again)) return [];
      const tests = file.assertionResults.filter(test => test.status === 'failed');
      return tests.length === 0 ? [file.name] : tests.map(test => test.fullName);
    });
    return names.map(name => `passed alone, after a failure in the whole run: ${name}`);
  },
  count() {
    const files = first.map(file => second?.find(({ name }) => name === file.name) ?? file);
    const tests = files.flatMap(file => file.assertionResults);
    const count = (...states) => tests.filter(({ status }) => states.includes(status)).length;
    // A file that failed without a failed test: it could not be read, or left something behind.
    const without = files.filter(file => isFailed(file) && !file.assertionResults.some(isFailed)).length;
    return [
      `${count('passed')} ${count('failed') + without} ${count('pending', 'skipped', 'todo', 'disabled')}`,
    ];
  },
};

for (const line of tasks[task]()) process.stdout.write(`${line}\n`);
