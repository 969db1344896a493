/**
 * Which playbooks get the secrets of a definition, and what that forbids. Zuul's rules:
 *
 *     the playbooks that the same definition names     all its secrets
 *     playbooks of parents and earlier variants        those with pass-to-parent, unless they have one of that name
 *     playbooks of children and later variants         none
 *
 * A playbook of an untrusted project runs as it is proposed, so a job with secrets in one runs on reviewed code alone (post-review); and
 * where an untrusted project uses its own secrets, for changes of that project alone (allowed-projects).
 */
import type { Playbook, PlaybookSecret } from '../../model/job.ts';
import type { Layout, LayoutFile } from '../model/layout.ts';
import type { JobAttributes } from '../stanzas/stanzas.ts';

/** The secrets of one definition. */
interface GivenSecrets {
  /** For its own playbooks. */
  readonly own: readonly PlaybookSecret[];
  /** Those with `pass-to-parent`. */
  readonly passed: readonly PlaybookSecret[];
  /** The job is for the definition's own project alone, and for reviewed code. */
  readonly restricts: boolean;
}

/** Unknown secrets broke the definition when the layout was built. */
export function givenSecrets(
  { secrets = [] }: JobAttributes,
  { trusted, project }: LayoutFile,
  layout: Pick<Layout, 'secrets'>,
): GivenSecrets {
  const found = secrets.flatMap(({ name, alias, passToParent }) => {
    const secret = layout.secrets.get(name);
    if (secret === undefined || secret.secret.project !== project) return [];
    return [{ passToParent, use: { name: alias, secret: secret.sha256 } }];
  });
  return {
    own: found.map(({ use }) => use),
    passed: found.filter(({ passToParent }) => passToParent).map(({ use }) => use),
    restricts: secrets.length > 0 && !trusted,
  };
}

/** Adds secrets to playbooks that were there before; one of the same name stays as it is. */
export function passed(
  given: readonly PlaybookSecret[],
): <P extends Pick<Playbook, 'secrets'>>(playbooks: readonly P[]) => readonly P[] {
  if (given.length === 0) return playbooks => playbooks;
  return playbooks =>
    playbooks.map(playbook => {
      const { secrets = [] } = playbook;
      const more = given.filter(({ name }) => secrets.every(known => known.name !== name));
      return more.length === 0 ? playbook : { ...playbook, secrets: [...secrets, ...more] };
    });
}

/** A secret is passed to a playbook of an untrusted project. */
export function exposes(
  {
    preRun,
    run,
    postRun,
  }: { readonly [phase in 'preRun' | 'run' | 'postRun']: readonly Pick<Playbook, 'trusted'>[] },
  given: GivenSecrets,
): boolean {
  return given.passed.length > 0 && [...preRun, ...run, ...postRun].some(({ trusted }) => !trusted);
}
