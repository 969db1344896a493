/**
 * A table of functions that are called with one plain argument each, usually in a worker thread (worker-calls.ts): the caller
 * does not know.
 */

export interface Calls<Table> extends AsyncDisposable {
  /** Rejects with the function's error. Argument and answer must be plain data. */
  call<Name extends keyof Table & string>(
    name: Name,
    argument: ArgumentOf<Table[Name]>,
  ): Promise<AnswerOf<Table[Name]>>;
}

export type ArgumentOf<Call> = Call extends (argument: infer Argument) => unknown ? Argument : never;
export type AnswerOf<Call> = Call extends (argument: never) => infer Answer ? Awaited<Answer> : never;
