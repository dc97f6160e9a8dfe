import { join } from "node:path";
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import Negotiator from "negotiator";
import { findSession } from "../http/authenticate.ts";
import { appPolicy } from "../http/pages.ts";
import { openFile, openPage, type Route } from "../http/route.ts";
import { ServiceError } from "../platform/errors.ts";
import type { Services } from "./services.ts";

const [compress, decompress] = [promisify(gzip), promisify(gunzip)];

/** The API as an OpenAPI document and as pages, which the dashboard's build makes of that document and of the guides. */
export function docsRoutes(services: Services): Route[] {
  let document: string | undefined;
  const docs = (path: string, nameOf: (params: Record<string, string>) => string) =>
    openPage(path, async ({ request, exchange }) => {
      const session = await findSession(services, request.headers);
      exchange.sessionId = session?.caller.proof.sessionId;
      const folder = join(services.settings.dashboardDirectory, "docs");
      const page = await readPage(join(folder, `${nameOf(request.params ?? {})}.html.gz`));
      const navigation = await readPage(`${folder}-navigation.html.gz`);
      const html = page
        .replace("{{csrf-token}}", session?.csrfToken ?? "")
        .replace("{{navigation}}", () => markPage(navigation, new URL(request.url).pathname));
      return await sendPage(html, request.headers);
    });
  return [
    openFile("/openapi.json", async () => {
      // Loaded on demand: most processes never serve the document.
      const { openApiDocument } = await import("./openapi-document.ts");
      document ??= JSON.stringify(openApiDocument(services.settings.chatCompatibility));
      return new Response(document, { headers: { "content-type": "application/json" } });
    }),
    docs("/docs", () => "index"),
    docs("/docs/:operation", ({ operation = "" }) => checkName(operation)),
    docs("/docs/guides/:guide", ({ guide = "" }) => `guides-${checkName(guide)}`),
  ];
}

/** No name leads out of the folder. */
function checkName(name: string): string {
  if (/^[\w-]+$/.test(name)) return name;
  throw new ServiceError("not_found", "The reference has no such page.");
}

async function readPage(path: string): Promise<string> {
  const file = Bun.file(path);
  if (!(await file.exists())) throw new ServiceError("not_found", "The reference has no such page.");
  return (await decompress(await file.bytes())).toString();
}

/** The navigation with the link of a page marked, and the section that it is in opened. */
function markPage(navigation: string, address: string): string {
  const link = `href="${address}"`;
  // The logo leads to the introduction as well, and is before it.
  const at = navigation.lastIndexOf(link);
  if (at < 0) return navigation;
  const section = navigation.lastIndexOf("<details", at);
  const marked = `${link} aria-current="page"${navigation.slice(at + link.length)}`;
  if (section < 0) return navigation.slice(0, at) + marked;
  const opened = section + "<details".length;
  return `${navigation.slice(0, opened)} open=""${navigation.slice(opened, at)}${marked}`;
}

async function sendPage(html: string, headers: Headers): Promise<Response> {
  const accepted = { "accept-encoding": headers.get("accept-encoding") ?? undefined };
  const isZipped = new Negotiator({ headers: accepted }).encodings(["gzip"]).includes("gzip");
  return new Response(isZipped ? await compress(html) : html, {
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": appPolicy,
      "cache-control": "no-store",
      vary: "accept-encoding",
      ...(isZipped && { "content-encoding": "gzip" }),
    },
  });
}
