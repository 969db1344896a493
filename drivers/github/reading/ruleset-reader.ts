/**
 * The rulesets of branches, read once and then remembered for a minute, or until GitHub reports that rules changed. Of one
 * process; another may hold an older answer for a minute.
 */
import type { Clock } from '../../../src/lib/clock.ts';
import type { GithubAnswer, GithubApi, GithubCall } from '../api/port.ts';
import { createSingleFlight } from '../api/single-flight.ts';
import type { RulesetRule } from './rules.ts';

/** Milliseconds. */
const KEPT = 60_000;
/** Branches; the oldest answer gives way. */
const MOST_BRANCHES = 1_000;
/** Rules of a page, and pages: a repository has 75 rulesets at most. */
const PAGE = 100;
const MOST_PAGES = 10;

/** A branch without rulesets, and a host without them, has none. */
export type RulesetAnswer = GithubAnswer<readonly RulesetRule[]>;

/** Rulesets of the branches of one connection. */
export interface RulesetReader {
  /** Events that ask for the same branch at the same time share one request. @throws the signal's reason. */
  read(branch: string, call: GithubCall): Promise<RulesetAnswer>;
  /** Answers about this repository, also those to come, are not used any more. */
  forget(repository: string): void;
}

/**
 * @param clock only its monotonic time is read.
 * @param lifetime ends the requests: several events wait for one, so none of them does.
 */
export function createRulesetReader(
  api: Pick<GithubApi, 'rest'>,
  clock: Pick<Clock, 'monotonic'>,
  lifetime: AbortSignal,
): RulesetReader {
  const known = new Map<string, { readonly at: number; readonly answer: RulesetAnswer }>();
  const flights = createSingleFlight<RulesetAnswer>();
  let forgotten = 0;

  async function ask(key: string, branch: string, call: GithubCall): Promise<RulesetAnswer> {
    const begun = forgotten;
    const answer = await askRulesets(api, branch, { ...call, signal: lifetime });
    if (begun !== forgotten) return answer;
    known.delete(key);
    if (answer.kind === 'ok') known.set(key, { at: clock.monotonic(), answer });
    const [oldest] = known.keys();
    if (known.size > MOST_BRANCHES && oldest !== undefined) known.delete(oldest);
    return answer;
  }

  return {
    async read(branch, call) {
      const key = `${call.repository} ${branch}`;
      const kept = known.get(key);
      if (kept !== undefined && clock.monotonic() - kept.at < KEPT) return kept.answer;
      return flights.run(`${forgotten} ${key}`, () => ask(key, branch, call), call.signal);
    },
    forget(repository) {
      forgotten += 1;
      for (const key of known.keys()) if (key.startsWith(`${repository} `)) known.delete(key);
    },
  };
}

async function askRulesets(
  api: Pick<GithubApi, 'rest'>,
  branch: string,
  call: GithubCall,
): Promise<RulesetAnswer> {
  const rules: RulesetRule[] = [];
  for (let page = 1; page <= MOST_PAGES; page += 1) {
    const asked = await api.rest(
      'repos/get-branch-rules',
      'GET /repos/{owner}/{repo}/rules/branches/{branch}',
      { branch, per_page: PAGE, ...(page === 1 ? {} : { page }) },
      call,
    );
    // An older GitHub Enterprise Server has no rulesets.
    if (asked.kind === 'refused' && asked.status === 404) break;
    if (asked.kind !== 'ok') return asked;
    rules.push(...asked.data);
    if (asked.data.length < PAGE) break;
  }
  return { kind: 'ok', status: 200, data: rules };
}
