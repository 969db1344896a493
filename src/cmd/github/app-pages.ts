/** The two pages of `gatehouse github create-app`: one asks, one thanks. Plain HTML without scripts. */
import { APP_PERMISSIONS } from '../../../drivers/github/permissions.ts';

/** Sent with every page: nothing but our own style, and a form that goes to GitHub only. */
export function pageHeaders(github: string): { readonly [name: string]: string } {
  return {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'content-security-policy': `default-src 'none'; style-src 'unsafe-inline'; form-action ${github}; base-uri 'none'; frame-ancestors 'none'`,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
  };
}

const STYLE = `
  :root { color-scheme: light dark }
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 44rem; margin: 3rem auto; padding: 0 1rem }
  h1 { font-size: 1.4rem }
  table { border-collapse: collapse; margin: 1.5rem 0; width: 100% }
  th, td { text-align: left; padding: .35rem 1rem .35rem 0; border-bottom: 1px solid color-mix(in srgb, currentColor 20%, transparent) }
  code { font: 0.9em ui-monospace, monospace }
  button { font: inherit; padding: .5rem 1.2rem; border: 0; border-radius: .4rem; background: #1f6f43; color: #fff; cursor: pointer }
  a { color: inherit }
`;

/** Asks: lists the permissions, and sends the manifest to GitHub. @param action where the form goes, with `state`. */
export function askingPage(name: string, action: string, manifest: object): string {
  const rows = APP_PERMISSIONS.map(
    each =>
      `<tr><td><code>${escaped(each.name)}</code></td><td>${each.level}</td><td>${escaped(each.why)}</td></tr>`,
  );
  return page(
    `Create the GitHub App “${name}”`,
    `<p>GitHub asks for your confirmation on the next page. The App belongs to you and gets these permissions:</p>
     <table><thead><tr><th>permission</th><th>level</th><th>needed to</th></tr></thead><tbody>${rows.join('')}</tbody></table>
     <form method="post" action="${escaped(action)}">
       <input type="hidden" name="manifest" value="${escaped(JSON.stringify(manifest))}">
       <button>Create the App on GitHub</button>
     </form>`,
  );
}

/** Thanks: the App exists, and its repositories are to be chosen. @param installUrl page of GitHub where it is installed. */
export function createdPage(name: string, installUrl: string): string {
  return page(
    `“${name}” exists`,
    `<p>Its key and webhook secret are on the machine where you started the command.
     Now <a href="${escaped(installUrl)}" rel="noreferrer">install it</a> on the repositories it is to gate, and close this page.</p>`,
  );
}

/** Says what went wrong, in one line. */
export function problemPage(text: string): string {
  return page('This did not work', `<p>${escaped(text)}</p>`);
}

function page(title: string, body: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escaped(title)}</title><style>${STYLE}</style></head><body><main><h1>${escaped(title)}</h1>${body}</main></body></html>\n`;
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}
