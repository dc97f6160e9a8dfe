import stylesPath from "swagger-ui-dist/swagger-ui.css" with { type: "file" };
import bundlePath from "swagger-ui-dist/swagger-ui-bundle.js" with { type: "file" };
import { open, type Route } from "../../pipeline/route.ts";

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Presage API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body>
<div id="interface"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`;

const startScript = `SwaggerUIBundle({ url: "/openapi.json", dom_id: "#interface", deepLinking: true, validatorUrl: null });
`;

/** The page loads nothing from other servers. Its script writes some of its styles. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** The API as an OpenAPI document and as a web page. This process serves every part of the page. */
export function docsRoutes(): Route[] {
  let document: string | undefined;
  return [
    open("GET", "/openapi.json", async () => {
      // Loaded on demand: most processes never serve the document.
      const { openApiDocument } = await import("./document.ts");
      document ??= JSON.stringify(openApiDocument());
      return new Response(document, { headers: { "content-type": "application/json" } });
    }),
    open("GET", "/docs", () => {
      const headers = {
        "content-type": "text/html; charset=utf-8",
        "content-security-policy": contentSecurityPolicy,
      };
      return new Response(page, { headers });
    }),
    open("GET", "/docs/start.js", () => asset(startScript, "text/javascript")),
    open("GET", "/docs/swagger-ui-bundle.js", () => asset(Bun.file(bundlePath), "text/javascript")),
    open("GET", "/docs/swagger-ui.css", () => asset(Bun.file(stylesPath), "text/css")),
  ];
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
