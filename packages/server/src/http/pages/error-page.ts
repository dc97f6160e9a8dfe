import { pageResponse } from "./page-response.ts";

const titles: Record<number, string> = {
  400: "That did not work",
  403: "No access",
  404: "There is no page here",
  503: "Not available right now",
};

const dashboardLink = '<a class="button" href="/">Go to the dashboard</a>';

export interface Failure {
  status: number;
  text: string;
  requestId: string;
  /** What was asked for; null where that cannot be told. */
  url: URL | null;
  headers: Record<string, string>;
}

/** What a person is told in the browser when there is no page to show. */
export function failurePage({ status, text, requestId, url, headers }: Failure): Response {
  const title = titles[status] ?? "Something went wrong";
  const body = `<h1>${title}</h1>
<p role="alert">${Bun.escapeHTML(text)}</p>
<p>${status === 404 ? dashboardLink : `<a class="button" href="${Bun.escapeHTML(retryAddress(url))}">Try again</a>`}</p>
<p class="aside">Request id: <code>${Bun.escapeHTML(requestId)}</code></p>`;
  return pageResponse({ title, body, status, headers });
}

/** The same address again, but for the provider's answer, which is good for one time. */
function retryAddress(url: URL | null): string {
  if (url === null) return "/";
  const { pathname, search } = url;
  return pathname === "/auth/callback" ? "/sign-in" : pathname + search;
}
