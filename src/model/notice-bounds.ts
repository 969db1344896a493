/** From when on a head counts as stuck and a forecast as slipped where no rule is asked: on pages. Pure. */
import type { NoticeEvent } from './notice.ts';

/** Milliseconds. */
export interface NoticeBounds {
  readonly stuckAfterMs: number;
  readonly slippedByMs: number;
}

/** Of rules that say nothing else. */
export const DEFAULT_NOTICE_BOUNDS: NoticeBounds = { stuckAfterMs: 1_800_000, slippedByMs: 1_800_000 };

/** What is read of a rule. */
interface BoundedRule extends NoticeBounds {
  readonly events: readonly NoticeEvent[];
  readonly tenants: readonly string[];
  readonly pipelines: readonly string[];
}

/** The smallest of the rules that want the event of the pipeline, of any of its projects; the defaults where none does. */
export function noticeBounds(rules: readonly BoundedRule[], tenant: string, pipeline: string): NoticeBounds {
  const those = rules.filter(rule => names(rule.tenants, tenant) && names(rule.pipelines, pipeline));
  const least = (event: NoticeEvent, bound: keyof NoticeBounds) => {
    const found = those.filter(({ events }) => events.includes(event)).map(rule => rule[bound]);
    return found.length === 0 ? DEFAULT_NOTICE_BOUNDS[bound] : Math.min(...found);
  };
  return {
    stuckAfterMs: least('head-stuck', 'stuckAfterMs'),
    slippedByMs: least('eta-slipped', 'slippedByMs'),
  };
}

function names(list: readonly string[], name: string): boolean {
  return list.length === 0 || list.includes(name);
}
