import { pagePolicy } from "./content-security-policy.ts";
import { mark } from "./mark.ts";

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
