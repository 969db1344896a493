/** The view of each page. */
import type { BuildsetDocument } from '../../api/build-schema.ts';
import type { PipelinesDocument } from '../../api/service.ts';
import type { Place } from '../../model/page-place.ts';
import { api, errorTextOf, fetchJson, pages } from './address.ts';
import { autoholdsView } from './autoholds-view.ts';
import { Board } from './board.ts';
import { buildsetsView, buildsView } from './builds-view.ts';
import { componentsView } from './components-view.ts';
import { DelaysView } from './delays-view.ts';
import type { DesktopNotices } from './desktop-notices.ts';
import { element, show } from './dom.ts';
import { errorsView } from './errors-view.ts';
import { nothingHere } from './fetched-view.ts';
import { ItemView } from './item-view.ts';
import { jobsView, jobView } from './jobs-view.ts';
import type { Live } from './live.ts';
import { LogView } from './log-view.ts';
import type { View } from './messages.ts';
import { labelsView, nodesView } from './nodes-view.ts';
import { projectsView, projectView } from './projects-view.ts';
import { QueuesView } from './queues-view.ts';
import type { RightToAct } from './right-to-act.ts';
import { semaphoresView } from './semaphores-view.ts';
import { traceHealthView } from './trace-health-view.ts';

/** Where a view is drawn, and what it shows. */
interface Opening {
  readonly root: Element;
  readonly tenant: string;
  readonly live: Live;
  readonly right: RightToAct;
  readonly notices: DesktopNotices;
}

/** What has no view of its own yet is found first. @returns also where another page takes the place of this one. */
export async function openView(place: Place, opening: Opening): Promise<View> {
  const { root, tenant, live, right } = opening;
  switch (place.page) {
    case 'none':
    case 'board':
      return new Board(root, tenant, { live, right });
    case 'item':
      return new ItemView(root, place.uuid, opening);
    case 'build':
      return new LogView(root, tenant, place.uuid, live);
    case 'buildset':
      return openBuildset(place.uuid, opening);
    case 'pipeline':
      return openDelays(place.name, opening);
    case 'delays':
      return openDelays(undefined, opening);
    case 'night':
      return openDelays(undefined, opening, '?since=12h');
    case 'queues':
      return new QueuesView(root, tenant, live);
    case 'builds':
      return buildsView(root, tenant);
    case 'buildsets':
      return buildsetsView(root, tenant);
    case 'projects':
      return projectsView(root, tenant);
    case 'project':
      return projectView(root, tenant, place.name);
    case 'jobs':
      return jobsView(root, tenant);
    case 'job':
      return jobView(root, tenant, place.name);
    case 'trace-health':
      return traceHealthView(root, tenant);
    case 'errors':
      return errorsView(root, tenant);
    case 'nodes':
      return nodesView(root, tenant, right);
    case 'labels':
      return labelsView(root, tenant);
    case 'autoholds':
      return autoholdsView(root, tenant, right);
    case 'semaphores':
      return semaphoresView(root, tenant);
    case 'components':
      return componentsView(root);
    case 'unknown':
      return stillView(root, 'Not found', 'There is no page at this address.');
  }
}

/** Of something that does not exist. */
function stillView(root: Element, title: string, text: string): View {
  show(root, nothingHere(text));
  return { title, update() {}, tick() {}, close() {} };
}

/** Whether it exists is not known. */
function notLoaded(root: Element, title: string, error: unknown): View {
  const text = `This page cannot be loaded (${errorTextOf(error)}). Load it again in a moment.`;
  show(root, element('p', { class: 'quiet', role: 'status' }, text));
  return { title, update() {}, tick() {}, close() {} };
}

/** Reports link to buildsets, but people look for the item. */
async function openBuildset(uuid: string, opening: Opening): Promise<View> {
  const { root, tenant } = opening;
  let buildset: BuildsetDocument | undefined;
  try {
    buildset = await fetchJson<BuildsetDocument>(api(tenant, `buildset/${uuid}`));
  } catch (error) {
    return notLoaded(root, 'Buildset', error);
  }
  const item = buildset?.gatehouse.item;
  if (item === undefined) return stillView(root, 'Not found', 'There is no such buildset.');
  window.history.replaceState(null, '', pages.item(tenant, item));
  return new ItemView(root, item, opening);
}

/** @param wanted undefined: the first that merges changes, or else the first. */
async function openDelays(wanted: string | undefined, { root, tenant }: Opening, query = ''): Promise<View> {
  let pipelines: PipelinesDocument;
  try {
    pipelines = (await fetchJson<PipelinesDocument>(api(tenant, 'pipelines'))) ?? [];
  } catch (error) {
    return notLoaded(root, 'Delays', error);
  }
  const usual = pipelines.find(({ manager }) => manager === 'dependent') ?? pipelines[0];
  const name = wanted ?? usual?.name;
  if (name === undefined) return stillView(root, 'Delays', 'This tenant has no pipelines.');
  if (wanted === undefined) window.history.replaceState(null, '', `${pages.pipeline(tenant, name)}${query}`);
  return new DelaysView(
    root,
    tenant,
    name,
    pipelines.map(pipeline => pipeline.name),
  );
}
