/**
 * `config-check --online` for one connection: asks GitHub about the App and about each repository, a few at a time, and compares
 * the answers with what pipelines want. Requests weigh as little as notices: a service that runs beside goes first.
 */
import { notAsked, type OnlineQuestionsDeps, onlineQuestions } from '../../../src/driver/ask-online.ts';
import type { OnlineCheck, ProjectUse } from '../../../src/driver/online-check.ts';
import { projectIdOf } from '../../../src/model/project.ts';
import type { GithubApi, GithubCall } from '../api/port.ts';
import type { GithubOptions } from '../options.ts';
import { createRulesetReader } from '../reading/ruleset-reader.ts';
import { contradictions } from './contradictions.ts';
import { readRepository } from './read-repository.ts';
import { readWebhook } from './read-webhook.ts';
import { webhookFindings } from './webhook-findings.ts';

/** Of one connection. */
export interface OnlineCheckDeps extends OnlineQuestionsDeps {
  readonly api: GithubApi;
}

/** Contacts nothing yet. */
export function createGithubOnlineCheck(
  connection: string,
  {
    landing,
    webhookTokens,
    adminReviews: readsAdmins,
  }: Pick<GithubOptions, 'landing' | 'webhookTokens' | 'adminReviews'>,
  deps: OnlineCheckDeps,
): OnlineCheck {
  const { api, clock } = deps;
  const questions = onlineQuestions('GitHub', deps);
  const isTaken = webhookTokens.length > 0;
  return async (uses, signal) => {
    const [first] = uses;
    if (first === undefined) return [];
    const rulesets = createRulesetReader(api, clock, signal);
    const hook = await questions.ask(each => readWebhook(api, callFor(first, each)), signal);
    if (hook.kind === 'away') return [notAsked('GitHub', hook, uses.length, uses.length)];
    if (hook.value.kind === 'wrong') return [{ ...hook.value.finding, project: null }];
    const { facts } = hook.value;
    const about = facts === null ? [] : webhookFindings(uses, { ...facts, connection, isTaken });
    const ofEach = await questions.askOfEach(
      uses,
      async (use, each) => {
        const asked = await readRepository(use, { api, rulesets, landing, readsAdmins }, callFor(use, each));
        if (asked.kind === 'later') return asked;
        const { value } = asked;
        const found =
          value.kind === 'wrong'
            ? [{ ...value.finding, project: use.project }]
            : contradictions(use, value.facts);
        return { kind: 'answered', value: found };
      },
      signal,
    );
    return [...about, ...ofEach];
  };
}

function callFor({ project }: ProjectUse, signal: AbortSignal): GithubCall {
  return { repository: projectIdOf(project).name, weight: 'notice', signal };
}
