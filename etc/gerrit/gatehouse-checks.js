/**
 * Shows what Gatehouse runs for a change in the Checks tab of Gerrit's change page: runs, results, logs, traces. For Gerrit 3.4 and later.
 *
 * To add it to a Gerrit site:
 *
 * 1. Set `SETTINGS` below: the address of Gatehouse as browsers reach it (`[web] root`), and the tenant. Browsers of a page behind https
 *    ask addresses behind https only.
 * 2. Copy the file to the site: `cp gatehouse-checks.js $GERRIT_SITE/plugins/`. Gerrit loads it within a minute, or when it is started.
 * 3. Open a change: it has a Checks tab as soon as Gerrit has loaded the plug-in.
 *
 * Every browser that shows a change sends one request each {@link SETTINGS.pollSeconds}, without credentials:
 * `GET /api/tenant/<tenant>/changes/<number>/checks`, which `doc/reference/http-api.md` describes. It changes nothing.
 */
const SETTINGS = {
  /** Without trailing slash. */
  gatehouse: 'https://gatehouse.example.org',
  /** Tenants that have projects of this Gerrit. */
  tenants: ['main'],
  /** Name of the connection to this Gerrit; empty: Gatehouse knows no other with projects of the same names. */
  connection: '',
  pollSeconds: 15,
};

/** Times of Gatehouse are milliseconds, Gerrit's are dates. */
const TIMES = ['scheduledTimestamp', 'startedTimestamp', 'finishedTimestamp'];

/** The runs of a patch set in one tenant. Throws Error with a sentence for the page. */
async function runsOf(tenant, { changeNumber, patchsetNumber, repo }) {
  const question = new URLSearchParams({ project: repo, patchset: String(patchsetNumber) });
  if (SETTINGS.connection !== '') question.set('connection', SETTINGS.connection);
  const path = `/api/tenant/${encodeURIComponent(tenant)}/changes/${changeNumber}/checks?${question}`;
  const response = await fetch(`${SETTINGS.gatehouse}${path}`, { credentials: 'omit' });
  if (!response.ok) {
    const refusal = await response.json().catch(() => ({}));
    throw new Error(`Gatehouse answered ${response.status}${refusal.error ? `: ${refusal.error}` : ''}`);
  }
  const { runs } = await response.json();
  return runs.map(run => {
    const dates = TIMES.filter(name => run[name] !== undefined).map(name => [name, new Date(run[name])]);
    const checkName = SETTINGS.tenants.length > 1 ? `${tenant}/${run.checkName}` : run.checkName;
    return { ...run, ...Object.fromEntries(dates), checkName };
  });
}

/** Called by Gerrit. Never rejects: Gerrit shows the error above the runs. */
async function fetchChecks(change) {
  try {
    const runs = await Promise.all(SETTINGS.tenants.map(tenant => runsOf(tenant, change)));
    return { responseCode: 'OK', runs: runs.flat() };
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    const reason = error instanceof TypeError ? `Gatehouse did not answer: ${text}` : text;
    return { responseCode: 'ERROR', errorMessage: reason };
  }
}

window.Gerrit.install(plugin => {
  plugin.checks().register({ fetch: fetchChecks }, { fetchPollingIntervalSeconds: SETTINGS.pollSeconds });
});
