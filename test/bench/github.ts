/**
 * The GitHub driver against the fake GitHub (test/github/fake), which shares this machine's cores with the service.
 *
 *   github-intake.ts   webhooks: from request to durable answer; the real web over the embedded store
 *   github-gate.ts     from webhook to first job step, requests of a pull request, a gate of 20 in each landing mode
 *   github-events.ts   100 events of 20 repositories at a host that takes 300 ms; a storm of statuses
 */
import { benchGithubEvents, benchStatusStorm } from './github-events.ts';
import { benchGates, benchPullLatency } from './github-gate.ts';
import { benchGithubIntake } from './github-intake.ts';
import type { Row } from './main.ts';

export async function benchGithub(): Promise<readonly Row[]> {
  return [
    ...(await benchGithubIntake()),
    ...(await benchGithubEvents()),
    ...(await benchStatusStorm()),
    ...(await benchPullLatency()),
    ...(await benchGates()),
  ];
}
