/** The secrets of a layout, and which of them jobs may use. */

import { sha256 } from '../../lib/ids.ts';
import type { ConfigError } from '../../model/config-error.ts';
import type { FrozenJob, FrozenSecret } from '../../model/job.ts';
import { projectIdOf } from '../../model/project.ts';
import type { PlacedSecret } from '../../model/secret.ts';
import { errorAt, placeText } from '../model/config-place.ts';
import type { LayoutFile } from '../model/layout.ts';
import type { JobStanza, SecretStanza } from '../stanzas/stanzas.ts';
import type { Collected } from './collected.ts';
import { missingNameHint } from './missing-name.ts';

/** @param file whose project's key decrypts it. */
export function placedSecret({ name, data, offset }: SecretStanza, file: LayoutFile): PlacedSecret {
  const { project } = file;
  const secret: FrozenSecret = { name, project, plain: data.plain, encrypted: data.encrypted };
  const owner = projectIdOf(project).name;
  const text = `secret ${name} cannot be decrypted with the key of project ${owner}; encrypt it with "gatehouse encrypt ${owner}"`;
  return {
    sha256: sha256(JSON.stringify([project, name, data.plain, data.encrypted])),
    secret,
    unusable: errorAt(file, offset, 'secret-not-decrypted', text),
  };
}

/** An unknown secret, or one of another project: for a definition or a project's override. */
export function secretError(
  { name, attributes }: JobStanza,
  file: LayoutFile,
  collected: Pick<Collected, 'secrets' | 'brokenSecrets' | 'hints' | 'unreadable'>,
): ConfigError | undefined {
  const { secrets, brokenSecrets, hints } = collected;
  // A secret of another project could not be used anyway.
  const ownUnreadable = collected.unreadable.filter(({ project }) => project === file.project);
  for (const use of attributes.secrets ?? []) {
    const found = secrets.get(use.name);
    if (found === undefined) {
      const hint = brokenSecrets.has(use.name)
        ? ' because of the error in its definition'
        : missingNameHint(use.name, secrets.keys(), { hints, unreadable: ownUnreadable });
      const text = `secret ${use.name} of job ${name} is not defined${hint}`;
      return errorAt(file, use.offset, 'unknown-secret', text);
    }
    if (found.file.project !== file.project) {
      const text = `job ${name} cannot use secret ${use.name}: it belongs to project ${projectIdOf(found.file.project).name} (${placeText(found.file, found.stanza.offset)}), and secrets are for jobs of the same project`;
      return errorAt(file, use.offset, 'not-permitted', text);
    }
  }
  return undefined;
}

/** Those that playbooks of the jobs get. */
export function secretsOfJobs(
  jobs: readonly Pick<FrozenJob, 'preRun' | 'run' | 'postRun'>[],
): ReadonlySet<string> {
  return new Set(
    jobs.flatMap(({ preRun, run, postRun }) =>
      [...preRun, ...run, ...postRun].flatMap(({ secrets = [] }) => secrets.map(({ secret }) => secret)),
    ),
  );
}
