/** Choices that this browser remembers. Where it may not remember, it forgets them with the page. */

const forgotten = new Map<string, string>();

/** Undefined: nothing was chosen. */
export function remembered(name: string): string | undefined {
  try {
    return localStorage.getItem(`gatehouse-${name}`) ?? undefined;
  } catch {
    return forgotten.get(name);
  }
}

/** @param value empty: forget it. */
export function remember(name: string, value: string): void {
  try {
    if (value === '') localStorage.removeItem(`gatehouse-${name}`);
    else localStorage.setItem(`gatehouse-${name}`, value);
  } catch {
    forgotten.set(name, value);
  }
}
