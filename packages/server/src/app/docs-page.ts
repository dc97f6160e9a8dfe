import { appPolicy } from "../http/pages.ts";

/** The API reference. `csrfToken` is that of the session if the browser is signed in. */
export function docsPage(csrfToken: string | undefined): Response {
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
