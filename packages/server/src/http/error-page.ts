import { pageResponse } from "./page-response.ts";

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
  /** Of the request; null if it is malformed. */
  url: URL | null;
  headers: Record<string, string>;
}

/** An error response as a page for people. */
export function errorPage({ status, text, requestId, url, headers }: ErrorPageOptions): Response {
  const title = titles[status] ?? "Something went wrong";
  const body = `<h1>${title}</h1>
<p role="alert">${Bun.escapeHTML(text)}</p>
<p>${status === 404 ? dashboardLink : `<a class="button" href="${Bun.escapeHTML(retryAddress(url))}">Try again</a>`}</p>
<p class="aside">Request id: <code>${Bun.escapeHTML(requestId)}</code></p>`;
  return pageResponse({ title, body, status, headers });
}

/** The same address, except for the identity provider's redirect, which is valid only once. */
function retryAddress(url: URL | null): string {
  if (url === null) return "/";
  const { pathname, search } = url;
  return pathname === "/auth/callback" ? "/sign-in" : pathname + search;
}
