/** A listener's address in a form that a browser on this machine can open: not "all addresses". */
export function browserAddress(address: string): string {
  const url = new URL(address);
  if (url.hostname === "0.0.0.0" || url.hostname === "[::]") url.hostname = "localhost";
  return url.origin;
}

/** Everything comes from this server, and no other site may embed the page or receive its forms. */
const policyWith = (styles: string, images: string) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src ${styles}`,
    "font-src 'self'",
    `img-src ${images}`,
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");

/** The policy of the server's small pages. */
const pagePolicy = policyWith("'self'", "data:");

/** The policy of the dashboard and the API reference: their scripts set styles, for example to place dialogs and charts. */
export const appPolicy = policyWith("'self' 'unsafe-inline'", "'self' data:");

/** The logo, as SVG; the dashboard has it in `shell/mark.tsx`. */
const mark = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="8" fill="#4f46e5"/><path d="M11 24V8h6.2a5.4 5.4 0 0 1 0 10.8H11" fill="none" stroke="white" stroke-width="3.2" stroke-linecap="round" stroke-linejoin="round"/></svg>`;

export const stylesPath = "/sign-in/pages.css";
export const scriptPath = "/sign-in/sign-in.js";

interface PageOptions {
  title: string;
  /** HTML, with texts already escaped. */
  body: string;
  hasScript?: boolean;
  status?: number;
  headers?: Record<string, string>;
}

/** A small page of the server: a card with the logo and the name, which loads nothing from other servers. */
export function pageResponse({
  title,
  body,
  hasScript = false,
  status = 200,
  headers,
}: PageOptions): Response {
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${Bun.escapeHTML(title)} · Presage</title>
<link rel="icon" href="data:image/svg+xml,${encodeURIComponent(mark)}">
<link rel="stylesheet" href="${stylesPath}">
${hasScript ? `<script type="module" src="${scriptPath}"></script>\n` : ""}</head>
<body>
<main>
<p class="product">${mark} Presage</p>
${body}
</main>
</body>
</html>
`;
  return new Response(html, {
    status,
    headers: {
      ...headers,
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": pagePolicy,
      "cache-control": "no-store",
    },
  });
}

const titles: Record<number, string> = {
  400: "That did not work",
  403: "No access",
  404: "Page not found",
  503: "Not available right now",
};

const dashboardLink = '<a class="button" href="/">Go to the dashboard</a>';

interface ErrorPageOptions {
  status: number;
  text: string;
  requestId: string;
  /** The request's address; null if it is malformed, or a secret. */
  url: URL | null;
  headers: Record<string, string>;
}

/** An error response as a page for people. */
export function errorPage({ status, text, requestId, url, headers }: ErrorPageOptions): Response {
  const isDeadLink = status === 404 && url === null;
  const title = isDeadLink ? "This link does not work" : (titles[status] ?? "Something went wrong");
  const body = `<h1>${title}</h1>
<p role="alert">${Bun.escapeHTML(text)}</p>
<p>${isDeadLink ? "" : status === 404 ? dashboardLink : `<a class="button" href="${Bun.escapeHTML(retryAddress(url))}">Try again</a>`}</p>
<p class="aside">Request id:<br><code>${Bun.escapeHTML(requestId)}</code></p>`;
  return pageResponse({ title, body, status, headers });
}

/** The same address, except for the identity provider's redirect, which is valid only once. */
function retryAddress(url: URL | null): string {
  if (url === null) return "";
  const { pathname, search } = url;
  return pathname === "/auth/callback" ? "/sign-in" : pathname + search;
}
