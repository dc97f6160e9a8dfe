import { resolve } from "node:path";
import swaggerStylesPath from "swagger-ui-dist/swagger-ui.css" with { type: "file" };
import bundlePath from "swagger-ui-dist/swagger-ui-bundle.js" with { type: "file" };
import { findSession } from "../http/authenticate.ts";
import fonts from "../http/fonts.css" with { type: "text" };
import { appPolicy } from "../http/pages.ts";
import { openFile, openPage, type Route } from "../http/route.ts";
import styles from "./docs.css" with { type: "text" };
import type { Services } from "./services.ts";
import script from "./start.js" with { type: "text" };

/** The API reference. `csrfToken` is that of the session if the browser is signed in. */
function docsPage(csrfToken: string | undefined): Response {
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
${csrfToken === undefined ? "" : `<meta name="csrf-token" content="${csrfToken}">\n`}<title>API reference · Presage</title>
<link rel="icon" href="data:,">
<script src="/docs/start.js"></script>
<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="stylesheet" href="/docs/docs.css">
<script src="/docs/swagger-ui-bundle.js" defer></script>
</head>
<body>
<header>
<a href="/">← Dashboard</a>
<h1>API reference</h1>
<p>The same as an OpenAPI document, for generators of clients: <a href="/openapi.json">openapi.json</a></p>
<p>${csrfToken === undefined ? signedOutText : signedInText}</p>
<noscript><p>This page needs JavaScript; the document does not.</p></noscript>
<h2 class="unseen">Operations</h2>
</header>
<div id="interface"></div>
</body>
</html>
`;
  return new Response(html, {
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": appPolicy,
      "cache-control": "no-store",
    },
  });
}

const signedInText = "You are signed in: requests from this page need no key.";
const signedOutText = `To send requests from this page, <a href="/">sign in</a>, or press Authorize and enter an API key.`;

/** The API as an OpenAPI document and as a web page. This process serves every part of the page. */
export function docsRoutes(services: Services): Route[] {
  let document: string | undefined;
  return [
    openFile("/openapi.json", async () => {
      // Loaded on demand: most processes never serve the document.
      const { openApiDocument } = await import("./openapi-document.ts");
      document ??= JSON.stringify(openApiDocument(services.settings.chatCompatibility));
      return new Response(document, { headers: { "content-type": "application/json" } });
    }),
    openPage("/docs", async ({ request, exchange }) => {
      const session = await findSession(services, request.headers);
      exchange.sessionId = session?.caller.proof.sessionId;
      return docsPage(session?.csrfToken);
    }),
    openFile("/docs/start.js", () => asset(script, "text/javascript")),
    openFile("/docs/docs.css", () => asset(fonts + styles, "text/css")),
    openFile("/docs/swagger-ui-bundle.js", () => asset(Bun.file(besideThis(bundlePath)), "text/javascript")),
    openFile("/docs/swagger-ui.css", async () => asset(await swaggerStyles(), "text/css")),
  ];
}

/** A bundle names files relative to itself. */
function besideThis(path: string): string {
  return resolve(import.meta.dir, path);
}

/** Swagger UI's styles in the dashboard's fonts. They name a font in some sixty places. */
async function swaggerStyles(): Promise<string> {
  return (await Bun.file(besideThis(swaggerStylesPath)).text())
    .replaceAll("font-family:sans-serif", 'font-family:"Inter Variable",system-ui,sans-serif')
    .replaceAll("font-family:monospace", 'font-family:"JetBrains Mono Variable",monospace');
}

function asset(content: string | Bun.BunFile, contentType: string): Response {
  return new Response(content, {
    headers: {
      "content-type": `${contentType}; charset=utf-8`,
      "cache-control": "public, max-age=3600",
      "x-content-type-options": "nosniff",
    },
  });
}
