/** A structured log, as every room uses it; `src/cmd/log.ts` makes the real one. Facts first, then one plain sentence. */
export interface Log {
  debug(facts: object, text: string): void;
  info(facts: object, text: string): void;
  warn(facts: object, text: string): void;
  error(facts: object, text: string): void;
  /** A log that adds `facts` to every line. */
  child(facts: object): Log;
}
