/** The demo's code host is a directory of repositories: proposals and approvals are pushes. */
import path from 'node:path';
import { APP } from './demo-files.ts';
import type { DemoHost, LocalDemo } from './demo-host.ts';
import { approve, commitTopic, propose } from './developer.ts';
import { prepareSite, type Site, type SiteOptions } from './prepare-site.ts';

/** @param site its repositories and clones. */
export function gitHost({ repositories, clone }: Pick<Site, 'repositories' | 'clone'>): DemoHost {
  return {
    repositories,
    words: { proposed: 'with git push', approved: 'with git push' },
    async propose({ project, topic, subject, files }) {
      const commit = await commitTopic(clone(project), topic, subject, files);
      await propose(clone(project), topic);
      return { change: `master/${topic}`, commit };
    },
    approve: ({ project, topic }) => approve(clone(project), topic),
  };
}

/** Sets the demo up below the directory of the options. */
export async function startGitDemo(options: SiteOptions): Promise<LocalDemo> {
  const site = await prepareSite(options);
  return {
    site: { ...site, host: gitHost(site) },
    places: [`repositories   ${path.join(options.directory, 'repositories')}`],
    invitation: `To propose a change of your own, commit in ${site.clone(APP)} and run git push origin HEAD:for/master/<topic>`,
    shown: async () => [],
    [Symbol.asyncDispose]: async () => undefined,
  };
}
