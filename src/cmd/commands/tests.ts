/** `gatehouse tests`: how the tests of a build went, and which failures are new. */
import type { Command } from 'commander';
import type { TestsDocument } from '../../api/tests.ts';
import { durationText } from '../../lib/duration-text.ts';
import { printable } from '../../lib/text-width.ts';
import { elsewhereText } from '../../model/test-results.ts';
import { ApiError } from '../client/api.ts';
import { type Io, print, printJson } from '../terminal/io.ts';
import { type Refused, refused } from './refused.ts';
import { type AskOptions, addAskOptions, type Session, tenantPath, withTenantService } from './session.ts';

const EXAMPLES = `
Examples:
  gatehouse tests 3832c7a4d82fbf2e6cc9850569e5ce9b
  gatehouse tests 3832c7a4d82fbf2e6cc9850569e5ce9b --json | jq -r '.failures[] | select(.elsewhere == null).name'

A job leaves results of its tests in ZUUL_LOG_DIR: JUnit's XML, TAP, or what "go test -json" prints.`;

/** @param done gets the exit status: 1 when there is no such build, or it left no results. */
export function addTestsCommand(program: Command, io: Io, done: (status: number) => void): void {
  addAskOptions(program.command('tests'))
    .summary('show which tests of a build failed')
    .description(
      'Shows how the tests of a build went by what its job left, and whether other changes failed the same ones lately.',
    )
    .argument('<build>', 'uuid of the build, or the URL of its page')
    .addHelpText('after', EXAMPLES)
    .action(async (build: string, options: AskOptions) =>
      done(await withTenantService(io, options, session => tests(session, build))),
    );
}

async function tests(session: Session, build: string): Promise<number | Refused> {
  const uuid = /(?:^|\/)([0-9a-f]{32})(?:[/?#]|$)/.exec(build)?.[1];
  if (uuid === undefined) return refused(`"${build}" is not the uuid of a build or the URL of its page`);
  const found = await resultsOf(session, uuid);
  if (typeof found === 'string') return refused(found);
  if (session.json) printJson(session.io, found);
  else print(session.io, testLines(found).join('\n'));
  return 0;
}

/** A text: why there are none. */
async function resultsOf(session: Session, uuid: string): Promise<TestsDocument | string> {
  try {
    return await session.api.get<TestsDocument>(tenantPath(session, `build/${uuid}/tests`));
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return error.message;
    throw error;
  }
}

function testLines({ job, result, totals, problems, suites, failures }: TestsDocument): readonly string[] {
  const skipped = totals.skipped === 0 ? '' : `, ${totals.skipped} skipped`;
  return [
    `${printable(job)} ${result ?? 'runs'}: ${sumText(totals)}${skipped}`,
    ...problems.map(problem => `  ! ${printable(problem)}`),
    ...suites.map(
      ({ name, cases, failed, ms }) =>
        `  ${failed > 0 ? '✗' : '✓'} ${printable(name)}: ${failed} of ${cases} failed, ${durationText(ms)}`,
    ),
    ...failures.flatMap(failure => [
      `  failed: ${printable(`${failure.suite}: ${failure.name}`)} (${elsewhereText(failure)})`,
      ...(failure.message === '' ? [] : [`    ${printable(failure.message)}`]),
    ]),
  ];
}

function sumText({ cases, failed }: TestsDocument['totals']): string {
  return `${failed} of ${cases} tests failed`;
}
