/**
 * The layouts of one tenant, away from the loop that decides (`src/layout/layout-table.ts` behind calls).
 *
 * Reading configuration is bounded: a proposal that takes more processor time or memory than a call may, twice, is answered
 * with a configuration error that names the limit. A crash of the thread for any other reason is an error.
 */
import type { LayoutFacts } from '../../layout/layout-facts.ts';
import {
  type BuildQuestion,
  type FreezeAnswer,
  type FreezeQuestion,
  type LayoutTable,
  wholeConfigError,
} from '../../layout/layout-table.ts';
import type { Calls } from '../../lib/calls.ts';
import { CallLost } from '../../lib/worker-calls.ts';
import type { Tenant } from '../../model/layout.ts';
import type { BranchConfig } from '../../model/merge.ts';

/** One for each tenant; disposing of it ends the thread. */
export interface Layouts extends AsyncDisposable {
  /** @throws Error saying which limit it exceeds, when it cannot be built. */
  build(tenant: Tenant, configs: readonly BranchConfig[]): Promise<LayoutFacts>;
  /** @param layout as `build` gave it. */
  freeze(layout: LayoutFacts, question: Omit<FreezeQuestion, 'layout'>): Promise<FreezeAnswer>;
}

/** A limit that was exceeded once may be met on a less busy machine. */
const TRIES = 2;

/** @param calls to a thread of this tenant alone: the numbers of its layouts are given here. */
export function createLayouts(calls: Calls<LayoutTable>): Layouts {
  /** The inputs of each layout, to build it again in a new thread. */
  const sources = new WeakMap<LayoutFacts, BuildQuestion>();
  let last = 0;

  async function freezeOnce(layout: LayoutFacts, question: Omit<FreezeQuestion, 'layout'>) {
    const source = sources.get(layout);
    if (source === undefined)
      throw new Error('a job graph was requested from a layout that was built elsewhere');
    for (let built = false; ; built = true) {
      const reply = await calls.call('freeze', { ...question, layout: source.id });
      if (reply.kind === 'answered') return reply.answer;
      if (built) throw new Error('a layout that was just built is unknown');
      await calls.call('build', source);
    }
  }

  return {
    async build(tenant, configs) {
      const question = { id: ++last, tenant, configs };
      const built = await tried(() => calls.call('build', question));
      if (built instanceof CallLost)
        throw new Error(`the configuration of tenant ${tenant.name} cannot be read: ${limitText(built)}`);
      sources.set(built, question);
      return built;
    },
    async freeze(layout, question) {
      const answer = await tried(() => freezeOnce(layout, question));
      if (!(answer instanceof CallLost)) return answer;
      const text = `the configuration with this change cannot be read: ${limitText(answer)}; make it smaller`;
      const [{ change }] = question.changes;
      const error = wholeConfigError(change, 'too-costly', text);
      return {
        cached: false,
        freezeMs: null,
        jobTimes: [],
        outcome: { kind: 'misconfigured', errors: [error] },
        defaultBranches: new Map(),
      };
    },
    [Symbol.asyncDispose]: () => calls[Symbol.asyncDispose](),
  };
}

/** @returns the lost call when the content is the reason for it. */
async function tried<Answer>(ask: () => Promise<Answer>): Promise<Answer | CallLost> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof CallLost) || (error.because !== 'time' && error.because !== 'memory'))
        throw error;
      if (attempt === TRIES) return error;
    }
  }
}

function limitText({ because, message }: CallLost): string {
  return because === 'memory' ? 'it takes more memory than it may' : message;
}
