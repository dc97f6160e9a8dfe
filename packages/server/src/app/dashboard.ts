import { join } from "node:path";
import { promisify } from "node:util";
import { brotliDecompress, gzip } from "node:zlib";
import Negotiator from "negotiator";
import { findSession } from "../http/authenticate.ts";
import type { CallForPage, RoutedRequest } from "../http/call.ts";
import { appPolicy } from "../http/pages.ts";
import { openFile, openPage, openRedirect, page, type Route } from "../http/route.ts";
import { notFound, ServiceError } from "../platform/errors.ts";
import { commandName } from "../platform/words.ts";
import { openApiDocument } from "./operations.ts";
import type { Services, Settings } from "./services.ts";

/** Every address of the dashboard's router, which chooses what to show in the browser. */
const pages = [
  "/",
  "/playground",
  "/predictions",
  "/log",
  "/deployments",
  "/environments",
  "/environments/:name",
  "/environments/:name/play",
  "/episodes/:episode_id",
  "/worlds",
  "/worlds/:name",
  "/runs",
  "/runs/new",
  "/runs/:run_id",
  "/compare",
  "/datasets",
  "/datasets/:dataset_id",
  "/datasets/:dataset_id/trajectories/:trajectory_id",
  "/runs/:run_id/trajectories/:trajectory_id",
  "/evaluations",
  "/evaluators",
  "/evaluators/profiles/:public_id",
  "/error-taxonomies",
  "/error-taxonomies/:taxonomy_id",
  "/review",
  "/usage",
  "/api-keys",
  "/account",
  "/account/members",
  "/account/audit-log",
];

const contentTypes: Record<string, string> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  json: "application/json; charset=utf-8",
  woff2: "font/woff2",
};

const [zip, unpack] = [promisify(gzip), promisify(brotliDecompress)];

const pageHeaders = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": appPolicy,
};

/** A name that changes with its content. */
const hasDigest = /-[a-z0-9]{8}\.\w+$/;

/** The dashboard as built by `packages/web/build.ts`: a page for every address, starting with the scripts it needs, and its files. */
export function dashboardRoutes({ settings }: { settings: Pick<Settings, "dashboardDirectory"> }): Route[] {
  const directory = settings.dashboardDirectory;
  return [
    ...pages.map((path) => page(path, (call) => sendShell(directory, path, call))),
    openFile("/assets/:name", ({ request }) => sendAsset(directory, request)),
  ];
}

/** The dashboard at an address without a page, which it does not repeat: it may be a shared link's. */
export function missingPage({ settings }: { settings: Pick<Settings, "dashboardDirectory"> }) {
  return (call: CallForPage) => sendShell(settings.dashboardDirectory, "/", call, 404);
}

async function sendShell(
  directory: string,
  path: string,
  { csrfToken, caller }: CallForPage,
  status = 200,
): Promise<Response> {
  const shell = Bun.file(join(directory, "shells", `${sectionOf(path)}.html`));
  if (!(await shell.exists())) {
    throw new ServiceError("not_found", "The dashboard is not built; npm start builds it.");
  }
  const html = (await shell.text())
    .replace("{{csrf-token}}", csrfToken)
    .replace("{{user-id}}", caller.userId)
    .replace("{{command-name}}", commandName);
  return new Response(html, { status, headers: pageHeaders });
}

/** The name under which the build has a page's scripts: the folder of its code. */
function sectionOf(path: string): string {
  if (path === "/runs/new") return "new-run";
  const [, first] = path.split("/");
  return first === "log" ? "predictions" : first || "overview";
}

/** A file of the build, in an encoding that the browser accepts. */
async function sendAsset(directory: string, { params, headers }: RoutedRequest): Promise<Response> {
  const name = params?.name ?? "";
  const contentType = contentTypes[name.split(".").at(-1) ?? ""];
  // Names of the build's files have no slash and no second dot, so none leads out of the folder.
  if (contentType === undefined || !/^[\w-]+\.\w+$/.test(name)) throw notFound("file");
  const cacheControl = hasDigest.test(name) ? "public, max-age=31536000, immutable" : "public, max-age=86400";
  const sent = { "content-type": contentType, "cache-control": cacheControl, vary: "accept-encoding" };
  const path = join(directory, "assets", name);
  // Fonts are compressed already, and stored as they are.
  const packed = Bun.file(`${path}.br`);
  if (await packed.exists()) {
    const accepted = headers.get("accept-encoding");
    return chooseEncoding(accepted) === "br"
      ? new Response(packed, { headers: { ...sent, "content-encoding": "br" } })
      : await sendUnpacked(await unpack(await packed.bytes()), accepted, sent);
  }
  const file = Bun.file(path);
  if (!(await file.exists())) throw notFound("file");
  return new Response(file, { headers: sent });
}

/** The smallest encoding that an `Accept-Encoding` header accepts (RFC 9110, 12.5.3), if any. */
export function chooseEncoding(accepted: string | null) {
  return (["br", "gzip"] as const).find((encoding) => accepts(accepted, encoding));
}

function accepts(accepted: string | null, encoding: string): boolean {
  const negotiator = new Negotiator({ headers: { "accept-encoding": accepted ?? undefined } });
  return negotiator.encodings([encoding]).includes(encoding);
}

/** The API as an OpenAPI document and as pages, which the dashboard's build generates from that document and the guides. */
export function docsRoutes(services: Services): Route[] {
  let document: string | undefined;
  const docs = (path: string, nameOf: (params: Record<string, string>) => string) =>
    openPage(path, async ({ request, exchange }) => {
      const name = nameOf(request.params ?? {});
      const session = await findSession(services, request.headers);
      exchange.sessionId = session?.caller.proof.sessionId;
      const folder = join(services.settings.dashboardDirectory, "docs");
      const page = await readPage(join(folder, `${name}.html.br`));
      const navigation = await readPage(`${folder}-navigation.html.br`);
      const html = page
        .replace("{{csrf-token}}", session?.csrfToken ?? "")
        .replace("{{navigation}}", () => markPage(navigation, addressOf(name)));
      const sent = { ...pageHeaders, "cache-control": "no-store", vary: "accept-encoding" };
      return await sendUnpacked(html, request.headers.get("accept-encoding"), sent);
    });
  return [
    openFile("/openapi.json", async () => {
      document ??= JSON.stringify(await openApiDocument(services.settings.chatCompatibility));
      return new Response(document, { headers: { "content-type": "application/json" } });
    }),
    docs("/docs", () => "index"),
    openRedirect("/docs/", () =>
      Promise.resolve(new Response(null, { status: 308, headers: { location: "/docs" } })),
    ),
    docs("/docs/:operation", ({ operation = "" }) => checkName(operation)),
    docs("/docs/guides/:guide", ({ guide = "" }) => `guides-${checkName(guide)}`),
  ];
}

/** The path of the page with this name. */
function addressOf(name: string): string {
  return name === "index" ? "/docs" : `/docs/${name.replace(/^guides-/, "guides/")}`;
}

/** No name leads out of the folder. */
function checkName(name: string): string {
  if (/^[\w-]+$/.test(name)) return name;
  throw new ServiceError("not_found", "The reference has no such page.");
}

async function readPage(path: string): Promise<string> {
  const file = Bun.file(path);
  if (!(await file.exists())) throw new ServiceError("not_found", "The reference has no such page.");
  return (await unpack(await file.bytes())).toString();
}

/** The navigation with a page's link marked and its section opened. */
function markPage(navigation: string, address: string): string {
  const link = `href="${address}"`;
  // The logo's link also leads to the introduction, and comes first.
  const at = navigation.lastIndexOf(link);
  if (at < 0) return navigation;
  const section = navigation.lastIndexOf("<details", at);
  const marked = `${link} aria-current="page"${navigation.slice(at + link.length)}`;
  if (section < 0) return navigation.slice(0, at) + marked;
  const opened = section + "<details".length;
  return `${navigation.slice(0, opened)} open=""${navigation.slice(opened, at)}${marked}`;
}

/** As it is, or as gzip: browsers accept no Brotli over plain http from other machines. */
async function sendUnpacked(
  content: string | Uint8Array<ArrayBuffer>,
  accepted: string | null,
  sent: Record<string, string>,
): Promise<Response> {
  if (!accepts(accepted, "gzip")) return new Response(content, { headers: sent });
  return new Response(await zip(content), { headers: { ...sent, "content-encoding": "gzip" } });
}
