/** What a running component says of itself to the others, for as long as its session lives. */
export interface ComponentRecord {
  /** The machine it runs on; several components may name the same. */
  readonly host: string;
  /** Of the program, for people. */
  readonly version: string;
  /** Node labels it offers; only executors have any. */
  readonly labels: readonly string[];
}
