/** By the ending of its name alone, `.yaml` or `.yml` in any case; other playbooks are programs. */
export function isAnsiblePlaybook(path: string): boolean {
  return /\.ya?ml$/i.test(path);
}
