/** What a job leaves in its log directory outlives its workspace and its executor, and hides its secrets. */
import { expect } from 'vitest';
import { layoutWith } from './layouts.ts';
import { TENANT } from './site.ts';
import { story } from './story.ts';

const layout = layoutWith(`
- job: {name: report, run: playbooks/report.sh}
- project:
    name: org/project
    gate: {jobs: [report]}
`);
const configFiles = {
  'playbooks/report.sh': `#!/bin/sh
mkdir -p "$ZUUL_LOG_DIR/html"
echo '<b>1 failed</b>' > "$ZUUL_LOG_DIR/html/index.html"
ln -s /etc/passwd "$ZUUL_LOG_DIR/passwd"
exit 1
`,
};

interface Build {
  readonly uuid: string;
  readonly log_url: string;
}

story(
  'the report of a failed build is at its log_url, also after the service was started anew',
  { layout, configFiles },
  async world => {
    await world.propose('A');
    await world.approve('A');
    await world.leaves('A', 'FAILURE');
    const [build] = await world.api.get<readonly Build[]>(`/api/tenant/${TENANT}/builds`);
    const path = `/api/tenant/${TENANT}/build/${build?.uuid}/logs/`;
    expect(build?.log_url).toBe(`${world.service.url}${path}`);
    const look = async () => ({
      report: await world.api.text(`${path}html/index.html`),
      log: await world.api.text(`${path}job-output.txt`),
      inventory: JSON.parse(await world.api.text(`${path}zuul-info/inventory.yaml`)),
      manifest: await world.api.get<{ readonly tree: readonly { readonly name: string }[] }>(
        `${path}zuul-manifest.json`,
      ),
    });
    const found = await look();
    expect(found.report).toBe('<b>1 failed</b>\n');
    expect(found.log).toMatch(/# of ZUUL_LOG_DIR 1 entry is not kept/);
    expect(found.inventory).toMatchObject({ all: { vars: { zuul: { build: build?.uuid } } } });
    expect(found.manifest.tree.map(({ name }) => name)).toEqual(['job-output.txt', 'html', 'zuul-info']);
    await world.restart('org/project');
    expect(await look()).toEqual(found);
  },
);
