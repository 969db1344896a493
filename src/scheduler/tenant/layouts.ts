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
import type { DescribedThing, LayoutDescription } from '../../model/layout-description.ts';
import type { BranchConfig } from '../../model/merge.ts';
import { createSecretCheck, type SecretCheck } from './check-secrets.ts';

/** One for each tenant; disposing of it ends the thread, when no other tenant uses it. */
export interface Layouts extends AsyncDisposable {
  /** @throws Error saying which limit it exceeds, when it cannot be built. */
  build(tenant: Tenant, configs: readonly BranchConfig[]): Promise<LayoutFacts>;
  /** @param layout as `build` gave it. */
  freeze(layout: LayoutFacts, question: Omit<FreezeQuestion, 'tenant' | 'layout'>): Promise<FreezeAnswer>;
  /** One job or project of it. @param layout as `build` gave it. */
  describe(layout: LayoutFacts, thing: DescribedThing): Promise<LayoutDescription>;
}

/** Chunks of secrets that a proposal may bring: some seconds of a thread. */
const MOST_NEW_CHUNKS = 1000;
const MOST_SECRET_ERRORS = 50;

/** The same, or misconfigured by secrets that cannot be decrypted. */
async function withUsableSecrets(answer: FreezeAnswer, secrets: SecretCheck): Promise<FreezeAnswer> {
  if (answer.secrets.length === 0) return answer;
  const [first, ...rest] = await secrets.unusable(answer.secrets, MOST_NEW_CHUNKS);
  if (first === undefined) return answer;
  const more = rest.slice(0, MOST_SECRET_ERRORS);
  const errors = answer.outcome.kind === 'misconfigured' ? answer.outcome.errors : [];
  return { ...answer, outcome: { kind: 'misconfigured', errors: [first, ...more, ...errors] } };
}

type Reply<Answer> =
  | { readonly kind: 'unknown-layout' }
  | { readonly kind: 'answered'; readonly answer: Answer };

/** A limit that was exceeded once may be met on a less busy machine. */
const TRIES = 2;

/**
 * @param calls to a thread: the numbers of this tenant's layouts are given here.
 * @param secrets the check that needs keys, which the thread has not. Default: there are none.
 */
export function createLayouts(
  calls: Calls<LayoutTable>,
  secrets: SecretCheck = createSecretCheck(undefined),
): Layouts {
  /** The inputs of each layout, to build it again in a new thread. */
  const sources = new WeakMap<LayoutFacts, BuildQuestion>();
  let last = 0;

  /** A thread that was lost meanwhile builds the layout again. */
  async function asked<Answer>(
    layout: LayoutFacts,
    ask: (of: Pick<FreezeQuestion, 'tenant' | 'layout'>) => Promise<Reply<Answer>>,
  ): Promise<Answer> {
    const source = sources.get(layout);
    if (source === undefined) throw new Error('a layout was asked that was built elsewhere');
    for (let built = false; ; built = true) {
      const reply = await ask({ tenant: source.tenant.name, layout: source.id });
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
      const undecrypted = await secrets.unusable(built.secrets);
      const facts: LayoutFacts = {
        ...built,
        errors: [...built.errors, ...undecrypted.slice(0, MOST_SECRET_ERRORS)],
        errorCount: built.errorCount + undecrypted.length,
      };
      sources.set(facts, question);
      return facts;
    },
    async freeze(layout, question) {
      const answer = await tried(() => asked(layout, of => calls.call('freeze', { ...question, ...of })));
      if (!(answer instanceof CallLost)) return withUsableSecrets(answer, secrets);
      const text = `the configuration with this change cannot be read: ${limitText(answer)}; make it smaller`;
      const [{ change }] = question.changes;
      const error = wholeConfigError(change, 'too-costly', text);
      return {
        cached: false,
        freezeMs: null,
        jobTimes: [],
        secrets: [],
        outcome: { kind: 'misconfigured', errors: [error] },
        defaultBranches: new Map(),
      };
    },
    describe: (layout, thing) => asked(layout, of => calls.call('describe', { ...of, thing })),
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
