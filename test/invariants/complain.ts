/** How a check of the recorded history says what it found; `invariant` is a number of the gating contract, or a word. */
export type Complain = (invariant: string, text: string) => void;
