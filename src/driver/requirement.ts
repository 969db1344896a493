/**
 * What `require:` and `reject:` of the hosts have in common: clauses about a change, of which a requirement needs all, and a rejection
 * one. Pure.
 */
import type { Nanoseconds } from '../lib/clock.ts';
import type { ChangeRecord } from '../model/change.ts';
import type { Json } from '../model/job.ts';
import { firstTurn } from './age.ts';
import { compiledOnce } from './compiled-once.ts';
import type { DriverConfigLanguage } from './driver.ts';

/** A change at one time. */
export interface AskedChange<Facts> {
  readonly record: ChangeRecord;
  /** As the host's driver reads them from the record. */
  readonly facts: Facts;
  readonly now: Nanoseconds;
}

/** One key that is written. Each answer is a clause for people, like "it is open". */
export interface RequirementClause<Asked> {
  /** That it holds. */
  readonly text: string;
  /** @returns what is wanted, and what is there instead; undefined: it holds. */
  readonly missing: (asked: Asked) => string | undefined;
  /** @returns what of it the change has; undefined: nothing. */
  readonly found: (asked: Asked) => string | undefined;
}

/** A requirement of one host, compiled. */
interface CompiledRequirement<Facts> {
  /** In the order in which they are asked; of several that fail the first is named. */
  readonly clauses: readonly RequirementClause<AskedChange<Facts>>[];
  /** Times at which a clause may give another answer without an event. */
  readonly turningPoints: (facts: Facts) => readonly Nanoseconds[];
}

/** What differs from host to host. */
export interface RequirementHost<Facts> {
  /** @param value as `parseRequirement` returned it. Its results are kept. @throws Error for one that was not parsed before. */
  compile(value: Json): CompiledRequirement<Facts>;
  /** Undefined: the update of a branch or tag, which meets no requirement and is never rejected: it is nothing of what can be named. */
  factsOf(record: ChangeRecord): Facts | undefined;
  /** Why a record without facts meets no requirement: "it is not a pull request". */
  readonly without: string;
}

/** The answers to the questions about `require:` and `reject:`. */
export type RequirementJudge = Required<Pick<DriverConfigLanguage, 'meets' | 'rejects' | 'recheckAt'>>;

/** @param host a pure description; see above for what a requirement and a rejection need. */
export function requirementJudge<Facts>(host: RequirementHost<Facts>): RequirementJudge {
  const compile = compiledOnce(value => host.compile(value));
  const judge: RequirementJudge = {
    meets(requirement, record, now) {
      const { clauses } = compile(requirement);
      if (clauses.length === 0) return { met: true, text: 'nothing is required' };
      const facts = host.factsOf(record);
      if (facts === undefined) return { met: false, text: host.without };
      const missing = firstText(clauses, clause => clause.missing({ record, facts, now }));
      if (missing !== undefined) return { met: false, text: missing };
      return { met: true, text: clauses.map(({ text }) => text).join(', ') };
    },
    rejects(rejection, record, now) {
      const { clauses } = compile(rejection);
      const facts = host.factsOf(record);
      if (facts === undefined) return { met: false, text: host.without };
      const found = firstText(clauses, clause => clause.found({ record, facts, now }));
      return found === undefined
        ? { met: false, text: 'nothing of what is rejected holds' }
        : { met: true, text: found };
    },
    recheckAt(requirement, record, now) {
      const facts = host.factsOf(record);
      if (facts === undefined) return null;
      const verdicts = (at: Nanoseconds) =>
        [judge.meets, judge.rejects].map(answer => answer(requirement, record, at).met).join();
      return firstTurn(compile(requirement).turningPoints(facts), now, verdicts);
    },
  };
  return judge;
}

function firstText<T>(items: readonly T[], textOf: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const text = textOf(item);
    if (text !== undefined) return text;
  }
  return undefined;
}
