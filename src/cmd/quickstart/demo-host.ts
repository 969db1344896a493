/**
 * The code host of a demo, with the developers who work at it. `git-host.ts` is a directory of repositories; other hosts come with
 * the tests of their driver.
 */
import type { DemoChange } from './demo-changes.ts';

/** A change as proposed. */
export interface DemoProposal {
  /** As the host names it: `master/greeting`, or a number. */
  readonly change: string;
  readonly commit: string;
}

/** Proposals by topic. */
export type DemoProposals = ReadonlyMap<string, DemoProposal>;

/** What the demo does at a code host. */
export interface DemoHost {
  /** Bare repository by project; of a host elsewhere, a mirror of it. */
  readonly repositories: ReadonlyMap<string, string>;
  /** Fetches what has landed into the mirrors. Absent: the repositories are the host's own. */
  readonly update?: () => Promise<void>;
  /** How changes are proposed and approved, for people: `git push`, `pull requests`. */
  readonly words: { readonly proposed: string; readonly approved: string };
  propose(change: DemoChange): Promise<DemoProposal>;
  approve(change: DemoChange): Promise<void>;
}

/** A service that gates the host's repositories. */
export interface DemoSite {
  /** The settings file. Empty: the service is elsewhere. */
  readonly config: string;
  /** Unix socket of the command line. Empty: the service is elsewhere. */
  readonly socket: string;
  /** Of the service, without trailing slash. */
  readonly url: string;
  readonly host: DemoHost;
}

/** A demo set up on this machine. */
export interface LocalDemo extends AsyncDisposable {
  readonly site: DemoSite;
  /** Lines of the head of the screen: what is where. */
  readonly places: readonly string[];
  /** Lines: what a newcomer can do next. */
  readonly invitation: readonly string[];
  /** What the host shows of the changes in the end; none: nothing beside the outcomes. */
  shown(): Promise<readonly string[]>;
}
