/** Proof that rare things happened: counted over all runs of a campaign. */
export class Sometimes {
  readonly counts = new Map<string, number>();
  /** Kept so that it can be handed on as it is. */
  readonly reached = (name: string): void => {
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
  };

  add(other: ReadonlyMap<string, number> | Readonly<Record<string, number>>): void {
    const entries = other instanceof Map ? other.entries() : Object.entries(other);
    for (const [name, count] of entries) this.counts.set(name, (this.counts.get(name) ?? 0) + count);
  }
}
