/**
 * Marks a branch no value can reach. Adding a case to a union then fails the type check at every `switch` over it.
 *
 * @throws Error always; reaching it is a programmer's error.
 */
export function assertNever(value: never, what = 'case'): never {
  throw new Error(`unexpected ${what}: ${JSON.stringify(value)}`);
}
