/**
 * What Gerrit's page takes from a provider of checks, by the types of its plug-in API 3.13 (`FetchResponse`, `CheckRun`,
 * `CheckResult`, `Link`, `Tag`), described once more as a schema, with the rules that its comments add. Dates are `{ date }` here:
 * they do not survive the way out of a browser.
 */
import { Ajv } from 'ajv';

const text = { type: 'string' };
const line = { type: 'string', minLength: 1 };
const url = { type: 'string', pattern: '^http' };
const flag = { type: 'boolean' };
const date = { type: 'object', properties: { date: { type: 'number' } }, required: ['date'] };
const exactly = (properties: object, ...required: readonly string[]) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});
const listOf = (items: object) => ({ type: 'array', items });

const link = exactly(
  {
    url,
    tooltip: text,
    primary: flag,
    icon: {
      enum: [
        ...['external', 'image', 'history', 'download', 'download_mobile', 'help_page', 'report_bug'],
        ...['code', 'file_present', 'view_timeline'],
      ],
    },
  },
  ...['url', 'primary', 'icon'],
);
const tag = exactly(
  { name: line, tooltip: text, color: { enum: ['gray', 'yellow', 'pink', 'purple', 'cyan', 'brown'] } },
  'name',
);
const result = exactly(
  {
    ...{ externalId: text, summary: line, message: text },
    category: { enum: ['SUCCESS', 'INFO', 'WARNING', 'ERROR'] },
    ...{ tags: listOf(tag), links: listOf(link), codePointers: listOf({}), actions: listOf({}) },
  },
  ...['category', 'summary'],
);
const run = exactly(
  {
    ...{
      change: { type: 'integer' },
      patchset: { type: 'integer' },
      attempt: { type: 'integer', minimum: 0 },
    },
    ...{ externalId: text, checkName: line, checkDescription: text, checkLink: url, isAiPowered: flag },
    status: { enum: ['RUNNABLE', 'RUNNING', 'SCHEDULED', 'COMPLETED'] },
    ...{ statusDescription: text, statusLink: url, labelName: text, actions: listOf({}) },
    ...{ scheduledTimestamp: date, startedTimestamp: date, finishedTimestamp: date },
    results: listOf(result),
  },
  ...['checkName', 'status'],
);
const fetchResponse = exactly(
  {
    responseCode: { enum: ['OK', 'ERROR', 'NOT_LOGGED_IN'] },
    ...{ errorMessage: line, summaryMessage: text, actions: listOf({}), links: listOf(link) },
    runs: listOf(run),
  },
  'responseCode',
);

interface Response {
  readonly runs?: readonly {
    readonly patchset?: number;
    readonly attempt?: number;
    readonly checkName: string;
    readonly status?: string;
    readonly results?: readonly unknown[];
  }[];
}

/** Empty: Gerrit takes it. */
export function problemsOfFetchResponse(response: Response): readonly string[] {
  const ajv = new Ajv({ allErrors: true, strict: false });
  const isValid = ajv.validate(fetchResponse, response);
  const problems = isValid ? [] : [ajv.errorsText(ajv.errors, { separator: '\n' })];
  const runs = response.runs ?? [];
  const names = runs.map(each => [each.patchset, each.attempt, each.checkName].join(' '));
  const repeated = names.filter((name, index) => names.indexOf(name) !== index);
  const early = runs.filter(each => each.status === 'RUNNABLE' && (each.results ?? []).length > 0);
  return [
    ...problems,
    ...repeated.map(name => `two runs are ${name}`),
    ...early.map(each => `${each.checkName} is RUNNABLE and has results`),
  ];
}
