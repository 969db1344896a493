/** Prints `passed failed skipped` of a vitest JSON report. */
import { readFileSync } from 'node:fs';

const report = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const skipped = report.numPendingTests + report.numTodoTests;
process.stdout.write(
  `${report.numPassedTests} ${report.numFailedTests + (report.numRuntimeErrorTestSuites ?? 0)} ${skipped}\n`,
);
