/**
 * `config-check --online` for one connection: asks Gerrit about the account and about each project, a few at a time, and compares the
 * answers with what pipelines want. Three or four requests for a project, of which none changes anything.
 */
import { notAsked, type OnlineQuestionsDeps, onlineQuestions } from '../../../src/driver/ask-online.ts';
import type { OnlineCheck, OnlineFinding, ProjectUse } from '../../../src/driver/online-check.ts';
import { projectIdOf } from '../../../src/model/project.ts';
import type { GerritApi, GerritCall } from '../api/port.ts';
import type { GerritOptions } from '../options.ts';
import { gerritProjectFindings, submits } from './project-findings.ts';
import { type GerritProjectFacts, readGerritProject } from './read-project.ts';
import { readGerritServer } from './read-server.ts';
import { gerritServerFindings, listed } from './server-findings.ts';

/** Of one connection. */
export interface GerritOnlineCheckDeps extends OnlineQuestionsDeps {
  readonly api: GerritApi;
}

/** Contacts nothing yet. */
export function createGerritOnlineCheck(
  options: Pick<GerritOptions, 'ssh' | 'streams' | 'auth'>,
  deps: GerritOnlineCheckDeps,
): OnlineCheck {
  const { api } = deps;
  const questions = onlineQuestions('Gerrit', deps);
  return async (uses, signal) => {
    if (uses.length === 0) return [];
    const server = await questions.ask(each => readGerritServer(api, { project: '', signal: each }), signal);
    if (server.kind === 'away') return [notAsked('Gerrit', server, uses.length, uses.length)];
    if (server.value.kind === 'wrong') return [{ ...server.value.finding, project: null }];
    const { facts } = server.value;
    const open = new Map<ProjectUse, GerritProjectFacts>();
    const ofEach = await questions.askOfEach(
      uses,
      async (use, each) => {
        const asked = await readGerritProject(
          use,
          { submits: use.pipelines.some(submits), hasRequirements: knowsRequirements(facts.version) },
          api,
          callFor(use, each),
        );
        if (asked.kind === 'later') return asked;
        const { value } = asked;
        if (value.kind === 'facts') open.set(use, value.facts);
        const found =
          value.kind === 'wrong'
            ? [{ ...value.finding, project: use.project }]
            : gerritProjectFindings(use, value.facts);
        return { kind: 'answered', value: found };
      },
      signal,
    );
    const unasked = options.auth.kind === 'ssh' ? [notOverSsh()] : unanswered(uses, open);
    return [...gerritServerFindings(uses, facts, options), ...unasked, ...ofEach];
  };
}

function callFor({ project }: ProjectUse, signal: AbortSignal): GerritCall {
  return { project: projectIdOf(project).name, signal };
}

/** Since 3.5; an older Gerrit refuses a query that asks for them. */
function knowsRequirements(version: string | null): boolean {
  const [major = 0, minor = 0] = (version ?? '').split('.').map(part => Number.parseInt(part, 10));
  return major > 3 || (major === 3 && minor >= 5);
}

/** What only a change could have shown, and there was none: one finding each for all projects. */
function unanswered(
  uses: readonly ProjectUse[],
  open: ReadonlyMap<ProjectUse, GerritProjectFacts>,
): readonly OnlineFinding[] {
  const where = (takes: (use: ProjectUse, facts: GerritProjectFacts) => boolean) =>
    uses
      .filter(use => {
        const facts = open.get(use);
        return facts !== undefined && takes(use, facts);
      })
      .map(({ project }) => projectIdOf(project).name);
  const votes = where(
    ({ pipelines }, { labels }) => labels === null && pipelines.some(each => each.reporters.length > 0),
  );
  const submit = where(({ pipelines }, { maySubmit }) => maySubmit === null && pipelines.some(submits));
  return [
    ...(votes.length === 0
      ? []
      : [warning(`what the account may vote could not be asked without an open change: ${listed(votes)}`)]),
    ...(submit.length === 0
      ? []
      : [
          warning(
            `whether the account may submit could not be asked without a change that is ready for it: ${listed(submit)}`,
          ),
        ]),
  ];
}

function notOverSsh(): OnlineFinding {
  return warning(
    'labels, submit types and what the account may vote and submit are not to be had over SSH: only the account, the stream and whether the projects are shown were checked. Give the connection an HTTP password for the rest',
  );
}

function warning(text: string): OnlineFinding {
  return { severity: 'warning', project: null, text };
}
