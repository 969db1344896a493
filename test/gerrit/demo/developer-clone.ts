import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { git } from '../../../src/cmd/quickstart/developer.ts';

/** Adds a Change-Id to messages without one, as Gerrit's own hook does. */
const COMMIT_MSG = `#!/bin/sh
grep -q '^Change-Id: ' "$1" && exit 0
id=I$( (date; echo $$; cat "$1") | git hash-object --stdin)
git interpret-trailers --in-place --trailer "Change-Id: $id" "$1"
`;

/** @param authorization the header's value, kept in the clone's configuration. */
export async function cloneForDeveloper({
  remote,
  authorization,
  clone,
}: {
  readonly remote: string;
  readonly authorization: string;
  readonly clone: string;
}): Promise<void> {
  const above = path.dirname(clone);
  await mkdir(above, { recursive: true });
  const credentials = `http.extraHeader=Authorization: ${authorization}`;
  await git(above, 'clone', '--quiet', '--config', credentials, remote, clone);
  await writeFile(path.join(clone, '.git', 'hooks', 'commit-msg'), COMMIT_MSG, { mode: 0o755 });
}
