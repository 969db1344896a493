/** Parts of the configuration in stories about code hosts. */

/** Lines below a key, at their indentation; absent: none. */
export function indented(lines: readonly string[] | undefined, by: string): string {
  return (lines ?? []).map(line => `${by}${line}\n`).join('');
}

/** Projects that share a queue and run `unit` in check and gate. @param more lines of each. */
export function projectStanzas(
  names: readonly string[] = ['acme/app', 'acme/library'],
  more: readonly string[] = [],
): string {
  const pipelines = ['check: {jobs: [unit]}', 'gate: {jobs: [unit]}'];
  return names
    .map(
      name =>
        `- project:\n${indented([`name: ${name}`, 'queue: integrated', ...pipelines, ...more], '    ')}`,
    )
    .join('');
}
