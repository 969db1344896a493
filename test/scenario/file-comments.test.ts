/** A job comments on lines of the change as it was tested; the report names the lines of the change as it was proposed. */
import { expect } from 'vitest';
import { layoutWith } from './layouts.ts';
import { TENANT } from './site.ts';
import { story } from './story.ts';

const layout = layoutWith(`
- job: {name: style, run: playbooks/style.sh}
- project:
    name: org/project
    gate: {jobs: [style]}
`);
const configFiles = {
  'playbooks/style.sh': `#!/bin/sh
[ -e code.txt ] || exit 0
at=$(grep -n BAD code.txt | cut -d: -f1)
[ -n "$at" ] || exit 0
gatehouse return "{\\"zuul\\": {\\"file_comments\\": {\\"code.txt\\": [
  {\\"line\\": $at, \\"message\\": \\"found at $at\\", \\"level\\": \\"error\\"}, {\\"line\\": 0, \\"message\\": \\"nowhere\\"}]}}}"
`,
};
const text = (...lines: readonly string[]) => `${lines.join('\n')}\n`;
const CODE = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight'];

interface Build {
  readonly gatehouse: { readonly file_comments: readonly unknown[]; readonly warnings: readonly string[] };
}

story(
  'a comment is reported at the line that the change has, although changes ahead moved it',
  { layout, configFiles, projects: { 'org/project': { 'code.txt': text(...CODE) } } },
  async world => {
    await world.propose('A', { files: { 'code.txt': text('new', 'newer', ...CODE) } });
    await world.propose('B', { files: { 'code.txt': text(...CODE.with(6, 'BAD')) } });
    await world.approve('A');
    await world.approve('B');
    await world.leaves('A', 'SUCCESS');
    await world.leaves('B', 'SUCCESS');
    expect(await world.landed()).toEqual(['A', 'B']);
    // The job saw it in line 9.
    expect((await world.notes('B')).at(-1)).toContain('Remarks:\n- code.txt:7: found at 9');
    const builds = await world.api.get<readonly Build[]>(`/api/tenant/${TENANT}/builds`);
    const { gatehouse } = builds.find(each => each.gatehouse.file_comments.length > 0) ?? {};
    expect(gatehouse).toMatchObject({
      file_comments: [{ file: 'code.txt', line: 7, level: 'error', message: 'found at 9' }],
      warnings: ['1 of zuul.file_comments are malformed; they are ignored'],
    });
  },
);
