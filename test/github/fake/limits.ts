/**
 * GitHub's limits, counted: requests per hour (REST and GraphQL apart), points per minute, content per minute and hour.
 * Each installation, the App itself and each person has its own.
 */
import type { Actor } from './actor.ts';
import type { World } from './world.ts';

export interface Allowance {
  /** Requests an hour. */
  core: number;
  /** Points an hour. */
  graphql: number;
  /** REST points a minute: 1 for a read, 5 for a write. */
  pointsPerMinute: number;
  contentPerMinute: number;
  contentPerHour: number;
}

export interface Meter {
  readonly allowance: Allowance;
  readonly used: { core: number; graphql: number };
  /** Seconds since 1970. */
  reset: number;
  readonly points: { readonly at: number; readonly points: number }[];
  readonly content: number[];
}

export type Resource = 'core' | 'graphql';

export type LimitVerdict =
  | { readonly kind: 'free' }
  | { readonly kind: 'primary'; readonly text: string }
  | { readonly kind: 'secondary'; readonly text: string; readonly retryAfter: number };

const SECONDARY =
  'You have exceeded a secondary rate limit. Please wait a few minutes before you try again. If you reach out to GitHub Support for help, please include the request ID.';

/** Requests that make people get a message. */
const CONTENT = /^(issues\/create-comment|pulls\/create-review|pulls\/create|reactions\/create)/;

export interface Limits {
  /** Of an installation by account, of a person by login, of the App by its bot's login. */
  meter(name: string): Meter;
  meterOf(actor: Actor): Meter;
  /** Counts nothing. */
  verdict(actor: Actor, operation: string, method: string): LimitVerdict;
  count(actor: Actor, operation: string, method: string, resource: Resource, cost: number): void;
  headers(actor: Actor, resource: Resource): Record<string, string>;
}

export function createLimits(world: World): Limits {
  const meters = new Map<string, Meter>();
  const meter = (name: string): Meter => {
    let found = meters.get(name);
    const seconds = Math.floor(world.now() / 1000);
    if (found === undefined) {
      const allowance = {
        core: 5000,
        graphql: 5000,
        pointsPerMinute: 900,
        contentPerMinute: 80,
        contentPerHour: 500,
      };
      found = { allowance, used: { core: 0, graphql: 0 }, reset: seconds + 3600, points: [], content: [] };
      meters.set(name, found);
    }
    if (seconds >= found.reset)
      Object.assign(found, { used: { core: 0, graphql: 0 }, reset: seconds + 3600 });
    return found;
  };
  const meterOf = (actor: Actor) =>
    meter(actor.kind === 'installation' ? actor.installation.account : actor.login);
  return {
    meter,
    meterOf,
    verdict(actor, operation, method) {
      const found = meterOf(actor);
      const resource = operation === 'graphql' ? 'graphql' : 'core';
      if (operation === 'rate-limit/get') return { kind: 'free' };
      if (found.used[resource] >= found.allowance[resource])
        return { kind: 'primary', text: `API rate limit exceeded for ${nameOf(actor)}.` };
      return secondary(found, world.now(), operation, method);
    },
    count(actor, operation, method, resource, cost) {
      const found = meterOf(actor);
      found.used[resource] += cost;
      const now = world.now();
      found.points.push({ at: now, points: pointsOf(method, resource) });
      if (CONTENT.test(operation)) found.content.push(now);
      while ((found.points[0]?.at ?? now) < now - 60_000) found.points.shift();
      while ((found.content[0] ?? now) < now - 3_600_000) found.content.shift();
    },
    headers(actor, resource) {
      if (world.description.product === 'ghes') return {};
      const { allowance, used, reset } = meterOf(actor);
      return {
        'x-ratelimit-limit': String(allowance[resource]),
        'x-ratelimit-remaining': String(Math.max(0, allowance[resource] - used[resource])),
        'x-ratelimit-used': String(used[resource]),
        'x-ratelimit-reset': String(reset),
        'x-ratelimit-resource': resource,
      };
    },
  };
}

function secondary(meter: Meter, now: number, operation: string, method: string): LimitVerdict {
  const { allowance } = meter;
  const since = (ms: number) => meter.content.filter(at => at > now - ms).length;
  const points = meter.points
    .filter(({ at }) => at > now - 60_000)
    .reduce((sum, each) => sum + each.points, 0);
  const tooMuch =
    points + pointsOf(method, operation === 'graphql' ? 'graphql' : 'core') > allowance.pointsPerMinute;
  const tooMuchContent =
    CONTENT.test(operation) &&
    (since(60_000) >= allowance.contentPerMinute || since(3_600_000) >= allowance.contentPerHour);
  return tooMuch || tooMuchContent
    ? { kind: 'secondary', text: SECONDARY, retryAfter: 60 }
    : { kind: 'free' };
}

function pointsOf(method: string, resource: Resource): number {
  return resource === 'graphql' || method === 'GET' ? 1 : 5;
}

function nameOf(actor: Actor): string {
  if (actor.kind === 'installation') return `installation ID ${actor.installation.id}`;
  return actor.kind === 'app' ? 'this App' : `user ID ${actor.login}`;
}
