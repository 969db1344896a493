/** What pipelines want of a project, against what Gerrit grants and demands there. Pure. */
import type { OnlineFinding, PipelineUse, ProjectUse } from '../../../src/driver/online-check.ts';
import { parsedBefore } from '../../../src/driver/read-mapping.ts';
import type { Json } from '../../../src/model/job.ts';
import { agreesWith, mergeModeOf } from '../landing/merge-mode-of.ts';
import { gerritReporterDeeds } from '../language/reporter-config.ts';
import { type GerritRequirement, parseGerritRequirement } from '../language/requirement-config.ts';
import { parseGerritTrigger } from '../language/trigger-config.ts';
import { signed, voteText } from '../language/vote-value.ts';
import type { GerritProjectFacts, LabelView } from './read-project.ts';
import { listed } from './server-findings.ts';

type Finding = Omit<OnlineFinding, 'project'>;

/** @returns errors first; empty: what the pipelines want is granted. */
export function gerritProjectFindings(use: ProjectUse, facts: GerritProjectFacts): readonly OnlineFinding[] {
  return [
    ...stateFindings(use, facts),
    ...voteFindings(use, facts),
    ...submitFindings(use, facts),
    ...blockingLabels(use, facts),
    ...mergeModeFindings(use, facts),
  ]
    .toSorted((a, b) => a.severity.localeCompare(b.severity))
    .map(finding => ({ ...finding, project: use.project }));
}

function stateFindings({ pipelines }: ProjectUse, { isReadOnly }: GerritProjectFacts): readonly Finding[] {
  const writing = pipelines.filter(({ reporters }) => reporters.length > 0);
  if (!isReadOnly || writing.length === 0) return [];
  const text = `the project is read-only at Gerrit, and ${names(writing)} reports there`;
  return [{ severity: 'error', text }];
}

/** Votes of reporters, each once, with the pipelines that give it. */
function voteFindings({ pipelines }: ProjectUse, { labels }: GerritProjectFacts): readonly Finding[] {
  if (labels === null) return [];
  const given = pipelines.flatMap(pipeline =>
    pipeline.reporters.flatMap(each => gerritReporterDeeds(each).votes.map(vote => ({ vote, pipeline }))),
  );
  const byVote = Map.groupBy(given, ({ vote }) => voteText(vote.label, vote.value));
  return [...byVote.values()].flatMap(same => {
    const [first] = same;
    const text = first && voteProblem(first.vote, names(same.map(({ pipeline }) => pipeline)), labels);
    return text === undefined ? [] : [{ severity: 'error', text }];
  });
}

function voteProblem(
  { label, value }: { readonly label: string; readonly value: number },
  voters: string,
  labels: readonly LabelView[],
): string | undefined {
  const found = labels.find(({ name }) => name === label);
  const votes = `${voters} votes ${voteText(label, value)}`;
  if (found === undefined)
    return `${votes}, and the project has no such label: it has ${listed(labels.map(({ name }) => name)) || 'none'}`;
  if (!found.values.includes(value))
    return `${votes}, and the values of the label are ${found.values.map(signed).join(', ')}`;
  if (found.permitted.includes(value)) return undefined;
  const may = found.permitted.filter(each => each !== 0);
  return `${votes}, and the account may vote ${may.length === 0 ? 'nothing' : may.map(signed).join(', ')} there: grant label-${label} on refs/heads/* to it`;
}

function submitFindings({ pipelines }: ProjectUse, { maySubmit }: GerritProjectFacts): readonly Finding[] {
  const submitting = pipelines.filter(submits);
  if (maySubmit !== false || submitting.length === 0) return [];
  return [
    {
      severity: 'error',
      text: `${names(submitting)} submits, and the account may not: grant submit on refs/heads/* to it`,
    },
  ];
}

/** Labels that Gerrit submits with only, and that a pipeline neither gives nor waits for. */
function blockingLabels(
  { pipelines }: ProjectUse,
  { labels, required }: GerritProjectFacts,
): readonly Finding[] {
  const needed = (labels ?? []).filter(({ name, isNeeded }) => isNeeded || required.includes(name));
  return needed.flatMap(label => {
    const { name } = label;
    const highest = label.values.at(-1) ?? 0;
    const submitting = pipelines.filter(submits);
    const tooLow = submitting.filter(each => {
      const ours = votesFor(name, each);
      return ours.length > 0 && !required.includes(name) && ours.every(value => value < highest);
    });
    const unaware = submitting.filter(
      each => votesFor(name, each).length === 0 && !requirementsOf(each).some(one => waitsFor(name, one)),
    );
    return [
      ...(tooLow.length === 0
        ? []
        : [
            {
              severity: 'error' as const,
              text: `Gerrit submits only with ${voteText(name, highest)}, and ${names(tooLow)} votes less`,
            },
          ]),
      ...(unaware.length === 0
        ? []
        : [
            {
              severity: 'warning' as const,
              text: `Gerrit submits only with ${voteText(name, highest)}, which ${names(unaware)} neither votes nor requires: write approval: [{${name}: ${highest}}] into its require`,
            },
          ]),
    ];
  });
}

function mergeModeFindings(
  { pipelines }: ProjectUse,
  { submitType }: GerritProjectFacts,
): readonly Finding[] {
  if (submitType === null) return [];
  // A project without a configured mode has that of the submit type.
  const differing = pipelines.filter(
    each => submits(each) && each.mergeMode !== undefined && !agreesWith(each.mergeMode, submitType),
  );
  const modes = [...new Set(differing.map(({ mergeMode }) => mergeMode))];
  if (modes.length === 0) return [];
  const text = `Gerrit submits by ${submitType}, and ${names(differing)} tests what ${modes.join(' and ')} makes: write merge-mode: ${mergeModeOf(submitType)} into the project's stanza, or what lands is not what was tested`;
  return [{ severity: 'warning', text }];
}

/** Whether the pipeline lands changes. */
export function submits({ success }: PipelineUse): boolean {
  return success.some(each => gerritReporterDeeds(each).submit);
}

function votesFor(label: string, { success }: PipelineUse): readonly number[] {
  return success
    .flatMap(each => gerritReporterDeeds(each).votes)
    .filter(vote => vote.label === label)
    .map(({ value }) => value);
}

/** Of the pipeline and of its triggers; `require` and `reject` alike. */
function requirementsOf({ requirements, triggers }: PipelineUse): readonly GerritRequirement[] {
  const own = requirements.map((each: Json) => parsedBefore(parseGerritRequirement(each)));
  const ofTriggers = triggers.map(each => parsedBefore(parseGerritTrigger(each)).require);
  return [...own, ...ofTriggers.filter(each => each !== undefined)];
}

/** A vote of a good value: what is rejected has bad ones. */
function waitsFor(label: string, { approval = [] }: GerritRequirement): boolean {
  return approval.some(each => {
    const values = each[label];
    return Array.isArray(values) && values.some(value => value > 0);
  });
}

function names(pipelines: readonly PipelineUse[]): string {
  return listed([...new Set(pipelines.map(({ tenant, pipeline }) => `${tenant}/${pipeline}`))]);
}
