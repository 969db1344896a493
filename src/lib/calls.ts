/**
 * A table of functions that are called with one plain argument each, usually in a worker thread (worker-calls.ts): the caller
 * does not know.
 */

/** The caller's side of a table: the history and the layouts use it. Disposing of it rejects the calls that wait. */
export interface Calls<Table> extends AsyncDisposable {
  /** Rejects with the function's error. Argument and answer must be plain data. */
  call<Name extends keyof Table & string>(
    name: Name,
    argument: ArgumentOf<Table[Name]>,
  ): Promise<AnswerOf<Table[Name]>>;
}

/** The one argument of a function in a table; it crosses the thread boundary as plain data. */
export type ArgumentOf<Call> = Call extends (argument: infer Argument) => unknown ? Argument : never;
/** What a call resolves with: the function's result, awaited. */
export type AnswerOf<Call> = Call extends (argument: never) => infer Answer ? Awaited<Answer> : never;
