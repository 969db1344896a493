/**
 * A real Gerrit for a test, with what the driver needs of one: labels, permissions, accounts, projects.
 *
 *     GERRIT_WAR=/opt/gerrit/gerrit.war npm run test:gerrit
 *
 *     await using gerrit = await startGerrit();
 *     const change = await gerrit.push({ by: gerrit.alice, subject: 'Log in' });
 *     await gerrit.vote(change, gerrit.ci, { Verified: 2 });
 *
 * alice and bob may vote Code-Review and Workflow; our account votes Verified, submits and streams events. Tried with Gerrit 3.5.6, 3.9.4 and 3.13.5.
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Account, type Ask, asking, askWell, createAccount } from './account.ts';
import { type Deeds, deedsAt } from './deeds.ts';
import { findGerrit, type GerritPlace } from './find-gerrit.ts';
import { configureLabels, groupUuid } from './project-config.ts';
import { ADMIN, type Site, startSite } from './site.ts';

/** Called by Vitest before anything else of a run. @throws Error that says how to get a Gerrit, when there is none. */
export function setup(): void {
  findGerrit();
}

export interface GerritOfTests extends Deeds, AsyncDisposable {
  /** Of page, REST and git over HTTP, without trailing slash. */
  readonly url: string;
  readonly ssh: { readonly host: string; readonly port: number };
  /** E.g. `3.13.5`. */
  readonly version: string;
  readonly ask: Ask;
  readonly admin: Account;
  readonly alice: Account;
  readonly bob: Account;
  /** Ours. */
  readonly ci: Account;
  /** The name of a project of this test, e.g. `acme/app`; of a Gerrit that runs on, a name of its own. */
  readonly project: (name: string) => string;
  createProject(name: string, options?: ProjectOptions): Promise<string>;
  /** Ends Gerrit as an operator does. Undefined: it is not ours to end. */
  readonly stop: (() => Promise<void>) | undefined;
  /** Starts it again, and waits until it answers. */
  readonly start: (() => Promise<void>) | undefined;
}

interface ProjectOptions {
  /** Gerrit's name, default `MERGE_IF_NECESSARY`. */
  readonly submitType?: string;
}

interface GerritOptions {
  readonly submitWholeTopic?: boolean;
  /** Created for the test; default `acme/app` and `acme/library`. */
  readonly projects?: readonly string[];
  /** Of one that is started: whether it serves its pages to browsers, too. */
  readonly pages?: boolean;
}

export async function startGerrit(options: GerritOptions = {}): Promise<GerritOfTests> {
  await using stack = new AsyncDisposableStack();
  const place = findGerrit();
  const { submitWholeTopic = false, projects = ['acme/app', 'acme/library'], pages = false } = options;
  const site =
    place.kind === 'program' ? stack.use(await startSite(place, { submitWholeTopic, pages })) : undefined;
  const folder = await mkdtemp(path.join(tmpdir(), 'gatehouse-gerrit-keys-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const gerrit = await furnish(place, site, folder);
  for (const name of projects) await gerrit.createProject(name);
  const kept = stack.move();
  return { ...gerrit, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

async function furnish(
  place: GerritPlace,
  site: Site | undefined,
  folder: string,
): Promise<Omit<GerritOfTests, typeof Symbol.asyncDispose>> {
  const { url, ssh, admin } = addressesOf(place, site);
  // A Gerrit that runs on keeps what tests made.
  const mark = site === undefined ? `-${randomBytes(3).toString('hex')}` : '';
  const ask = asking(url);
  const version = String(await askWell(ask, admin, 'GET', 'config/server/version'));
  const account = (name: string) => createAccount(ask, admin, `${name}${mark}`, folder);
  const [alice, bob, ci] = [await account('alice'), await account('bob'), await account('gatehouse')];
  const robots = `Gates${mark}`;
  const group = await askWell(ask, admin, 'PUT', `groups/${robots}`, { members: [ci.username] });
  await configureLabels({ url, version, ask, admin }, { name: robots, uuid: groupUuid(group) });
  const project = (name: string) => name.replace('/', `${mark}/`);
  return {
    ...{ url, ssh, version, ask, admin, alice, bob, ci, project },
    stop: site?.stop,
    start: site?.start,
    async createProject(name, { submitType = 'MERGE_IF_NECESSARY' } = {}) {
      const path = encodeURIComponent(project(name));
      const wanted = { create_empty_commit: true, branches: ['master'], submit_type: submitType };
      await askWell(ask, admin, 'PUT', `projects/${path}`, wanted);
      return project(name);
    },
    ...deedsAt({ url, ask, project }),
  };
}

function addressesOf(place: GerritPlace, site: Site | undefined) {
  if (place.kind === 'running') {
    const ssh = { host: place.sshHost, port: place.sshPort };
    return { url: place.url, ssh, admin: { ...place.admin, keyFile: '' } };
  }
  if (site === undefined) throw new Error('a program without a site');
  return { url: site.url, ssh: { host: '127.0.0.1', port: site.sshPort }, admin: { ...ADMIN, keyFile: '' } };
}
