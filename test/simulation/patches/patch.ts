/** A patch that breaks one rule of the product, as data. */
export interface Edit {
  /** Below the root of the project. */
  readonly file: string;
  /** Must be there exactly once. */
  readonly find: string;
  readonly replace: string;
}

export interface Patch {
  readonly name: string;
  /** The rule it breaks, in words. */
  readonly rule: string;
  readonly edits: readonly Edit[];
  /** What is known to catch it. */
  readonly caughtBy: Catch;
}

/** Where to look first. Any run of the suite may catch it; from here it does not take long. */
export type Catch =
  /** Runs from this seed on, until one fails. */
  | {
      readonly kind: 'seeds';
      readonly from: number;
      readonly scenario?: string;
      readonly calm?: boolean;
      readonly faults?: string;
    }
  /** The process is struck at the calls whose label begins so, one after the other, until a run fails. */
  | {
      readonly kind: 'calls';
      readonly scenario: string;
      readonly label: string;
      readonly strike: string;
      /** So many of them come last: the next one is known to catch it. Default: none. */
      readonly last?: number;
    };
