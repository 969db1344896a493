/** The part of an item's document that names its changes. */
interface ShownChanges {
  readonly changes: readonly { readonly project: string; readonly name: string }[];
}

/** Whether an item holds the change, in any patchset. @param name e.g. `master/login`. */
export function isAbout({ changes }: ShownChanges, project: string, name: string): boolean {
  return changes.some(change => change.project === project && change.name === name);
}
