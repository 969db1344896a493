/**
 * Passes news on, at once when it was quiet and otherwise once a second: for what changes with every commit and matters little.
 *
 *     const teller = createSlowTeller(tellEverybody);
 *     outbox.onChange(teller.touch);
 */
export interface SlowTeller {
  /** There is news. */
  readonly touch: () => void;
  close(): void;
}

const TELL_EVERY = 1_000;

export function createSlowTeller(tell: () => void): SlowTeller {
  let resting: NodeJS.Timeout | undefined;
  let again = false;

  function rest(): void {
    resting = setTimeout(() => {
      resting = undefined;
      if (again) speak();
    }, TELL_EVERY);
  }
  function speak(): void {
    again = false;
    rest();
    tell();
  }
  return {
    touch() {
      if (resting === undefined) speak();
      else again = true;
    },
    close() {
      clearTimeout(resting);
      again = false;
    },
  };
}
