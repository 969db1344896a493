/**
 * Repositories that have another name at GitHub than in the tenants' configuration. GitHub redirects the old name for as long as no
 * other repository takes it, so nothing is read, reported or landed under it: an operator has to write the new one.
 */
import type { DriverLog } from '../../src/driver/connection.ts';
import type { HostHealth } from '../../src/driver/host-health.ts';

/** Called with each name that GitHub shows. @param repository as the configuration has it. @param name as GitHub has it. */
export type RepositoryNamed = (repository: string, name: string) => void;

/** One line with both names. */
export function movedText(from: string, to: string): string {
  return `repository ${from} is named ${to} at GitHub now: write the new name into the tenants' configuration`;
}

/** @returns a function that reports differing names to the health of the connection, and once to the log. */
export function repositoryNames(
  health: Pick<HostHealth, 'misconfigured'>,
  log: Pick<DriverLog, 'warn'>,
): RepositoryNamed {
  const wrong = new Map<string, string>();
  return (repository, name) => {
    if (name.toLowerCase() === repository.toLowerCase()) {
      if (wrong.delete(repository)) health.misconfigured(repository, undefined);
      return;
    }
    if (wrong.get(repository) === name) return;
    const text = movedText(repository, name);
    wrong.set(repository, name);
    health.misconfigured(repository, { severity: 'error', project: repository, text, onlyForCycles: false });
    log.warn({ repository, name }, text);
  };
}
