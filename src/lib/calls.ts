/**
 * A table of functions that is called with one plain argument each, in this thread or in a worker thread
 * (worker-calls.ts): whoever calls does not know which.
 */

export type CallTable = { readonly [name: string]: (argument: never) => unknown };

export interface Calls<Table> extends AsyncDisposable {
  /** Rejects with what the function throws. Argument and answer must be plain data. */
  call<Name extends keyof Table & string>(
    name: Name,
    argument: ArgumentOf<Table[Name]>,
  ): Promise<AnswerOf<Table[Name]>>;
}

export type ArgumentOf<Call> = Call extends (argument: infer Argument) => unknown ? Argument : never;
export type AnswerOf<Call> = Call extends (argument: never) => infer Answer ? Awaited<Answer> : never;

type AnyCall<Call> = (argument: ArgumentOf<Call>) => AnswerOf<Call> | Promise<AnswerOf<Call>>;

/** Without a thread: for tests, and for commands that have nothing else to do meanwhile. */
export function callsInProcess<Table>(
  table: {
    readonly [Name in keyof Table]: AnyCall<Table[Name]>;
  },
): Calls<Table> {
  return {
    call: async (name, argument) => table[name](argument),
    [Symbol.asyncDispose]: async () => {},
  };
}
