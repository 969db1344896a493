/**
 * Reads what Gerrit says of one project to an account that may not read its configuration: the submit type, and of its newest open
 * change the labels and what we may vote. The right to submit shows on a change that is ready to be submitted, and nowhere else.
 */
import type { Asked } from '../../../src/driver/ask-online.ts';
import type { ProjectUse } from '../../../src/driver/online-check.ts';
import type { Json } from '../../../src/model/job.ts';
import { projectIdOf } from '../../../src/model/project.ts';
import type { GerritAnswer, GerritApi, GerritCall } from '../api/port.ts';
import type { SubmitType } from '../facts.ts';
import { type GerritReading, get, mappingOf, withoutGerritData } from './read-server.ts';

/** A label of the newest open change. Values are ascending. */
export interface LabelView {
  readonly name: string;
  /** Gerrit submits only with its highest value. */
  readonly isNeeded: boolean;
  readonly values: readonly number[];
  /** What our account may vote. */
  readonly permitted: readonly number[];
}

/** What Gerrit says of a project. */
export interface GerritProjectFacts {
  /** Gerrit takes no votes and no submits. */
  readonly isReadOnly: boolean;
  /** Null: Gerrit did not say. */
  readonly submitType: SubmitType | null;
  /** Null: the project has no open change to be asked about, or Gerrit does not say what our account may vote. */
  readonly labels: readonly LabelView[] | null;
  /** Labels that submit requirements name, satisfied or not. */
  readonly required: readonly string[];
  /** Null: no change of the project is ready to be submitted, or it was not asked. */
  readonly maySubmit: boolean | null;
}

/** @param submits a pipeline submits changes of the project. @throws the signal's reason. */
export async function readGerritProject(
  { project }: ProjectUse,
  { submits, hasRequirements }: { readonly submits: boolean; readonly hasRequirements: boolean },
  api: GerritApi,
  call: GerritCall,
): Promise<Asked<GerritReading<GerritProjectFacts>>> {
  const { name } = projectIdOf(project);
  const config = await get(api, 'projects/config', `projects/${encodeURIComponent(name)}/config`, call);
  if (config.kind === 'refused' && config.status === 404) return hidden();
  if (config.kind !== 'ok') return withoutGerritData(config);
  const newest = await oneChange(
    `project:${quoted(name)} status:open`,
    ['DETAILED_LABELS', ...(hasRequirements ? ['SUBMIT_REQUIREMENTS'] : [])],
    api,
    call,
  );
  if (newest.kind !== 'ok') return withoutGerritData(newest);
  const ready = submits
    ? await oneChange(
        `project:${quoted(name)} status:open is:submittable -is:wip`,
        ['CURRENT_REVISION', 'CURRENT_ACTIONS'],
        api,
        call,
      )
    : undefined;
  // A Gerrit that does not know the question leaves it open.
  if (ready !== undefined && ready.kind !== 'ok' && ready.kind !== 'refused') return withoutGerritData(ready);
  const { state, submit_type: submitType } = mappingOf(config.data);
  return {
    kind: 'answered',
    value: {
      kind: 'facts',
      facts: {
        isReadOnly: state === 'READ_ONLY',
        submitType: typeof submitType === 'string' ? (submitType as SubmitType) : null,
        labels: newest.data?.permitted_labels === undefined ? null : labelsOf(newest.data),
        required: newest.data === undefined ? [] : requiredOf(newest.data),
        maySubmit: ready?.kind === 'ok' && ready.data !== undefined ? offersSubmit(ready.data) : null,
      },
    },
  };
}

function hidden(): Asked<Extract<GerritReading<never>, { kind: 'wrong' }>> {
  const text = 'Gerrit shows no such project to the account: grant it read on refs/*';
  return { kind: 'answered', value: { kind: 'wrong', finding: { severity: 'error', text } } };
}

/** Names that Gerrit's query language does not take as they are stand in braces. */
function quoted(name: string): string {
  return /^[\w./-]+$/.test(name) ? name : `{${name}}`;
}

type ChangeJson = { readonly [key: string]: Json };

/** Undefined data: no change is found. */
async function oneChange(
  query: string,
  options: readonly string[],
  api: GerritApi,
  call: GerritCall,
): Promise<GerritAnswer<ChangeJson | undefined>> {
  const asked = options.map(option => `&o=${option}`).join('');
  const answer = await get(api, 'changes/query', `changes/?q=${encodeURIComponent(query)}&n=1${asked}`, call);
  if (answer.kind !== 'ok') return answer;
  const first = Array.isArray(answer.data) ? answer.data[0] : undefined;
  return { ...answer, data: first === undefined ? undefined : mappingOf(first) };
}

function labelsOf(change: ChangeJson): readonly LabelView[] {
  const permitted = mappingOf(change.permitted_labels);
  return Object.entries(mappingOf(change.labels)).map(([name, label]) => ({
    name,
    isNeeded: mappingOf(label).optional !== true,
    values: Object.keys(mappingOf(mappingOf(label).values))
      .map(Number)
      .toSorted(ascending),
    permitted: numbersOf(permitted[name]),
  }));
}

/** `[" 0", "+1"]`, and of a label that we may not vote nothing. */
function numbersOf(values: Json | undefined): readonly number[] {
  return Array.isArray(values) ? values.map(Number).toSorted(ascending) : [];
}

function ascending(a: number, b: number): number {
  return a - b;
}

function requiredOf({ submit_requirements: requirements }: ChangeJson): readonly string[] {
  const all = Array.isArray(requirements) ? requirements.map(mappingOf) : [];
  const labels = all
    .filter(({ status }) => status !== 'NOT_APPLICABLE')
    .flatMap(({ submittability_expression_result: result }) => {
      const { expression } = mappingOf(result);
      const terms = typeof expression === 'string' ? expression.matchAll(POSITIVE_LABEL) : [];
      return [...terms].map(([, label = '']) => label);
    });
  return [...new Set(labels)];
}

/** Not `-label:Code-Review=MIN`, which is a vote that may not be there. */
const POSITIVE_LABEL = /(?<![-\w])label:["{]?([A-Za-z0-9][A-Za-z0-9-]*?)(?=[<>=,"}\s)]|[+-]\d|$)/g;

/** Gerrit leaves the action out, or gives the missing permission as its title. Null: it lists no actions, or something else is in the way. */
function offersSubmit(change: ChangeJson): boolean | null {
  const actions = Object.values(mappingOf(change.revisions)).flatMap(
    revision => mappingOf(revision).actions ?? [],
  );
  if (actions.length === 0) return null;
  const offered = actions.flatMap(each => mappingOf(each).submit ?? []).map(mappingOf);
  if (offered.some(({ enabled }) => enabled === true)) return true;
  const isForbidden = ({ title }: ChangeJson) => typeof title === 'string' && /permission/i.test(title);
  return offered.every(isForbidden) ? false : null;
}
