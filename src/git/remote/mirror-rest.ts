/** Milliseconds. */
const REST = 300_000;

/** When the mirror of one repository is asked again; one process's memory. */
export interface MirrorRest {
  isOver(): boolean;
  begin(): void;
}

/** @param now milliseconds of a clock that is never set. */
export function createMirrorRest(now: () => number = () => performance.now()): MirrorRest {
  let until = 0;
  return {
    isOver: () => now() >= until,
    begin() {
      until = now() + REST;
    },
  };
}
