import { join } from "node:path";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import Negotiator from "negotiator";
import type { RoutedRequest } from "../http/call.ts";
import { appPolicy } from "../http/pages.ts";
import { openFile, page, type Route } from "../http/route.ts";
import { ServiceError } from "../platform/errors.ts";
import type { Settings } from "./services.ts";

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

const unzip = promisify(gunzip);

/** The encodings that the build makes of each file instead of the file itself, the smaller first. Fonts are compressed as they are. */
const encodings = [
  { name: "br", extension: "br" },
  { name: "gzip", extension: "gz" },
] as const;

/** A name that changes with its content. */
const hasDigest = /-[a-z0-9]{8}\.\w+$/;

/** The dashboard as `packages/web/build.ts` built it: a page for every address, which begins with the scripts it needs, and its files. */
export function dashboardRoutes({ settings }: { settings: Pick<Settings, "dashboardDirectory"> }): Route[] {
  const directory = settings.dashboardDirectory;
  return [
    ...pages.map((path) =>
      page(path, async ({ csrfToken, caller }) => {
        const shell = Bun.file(join(directory, "shells", `${sectionOf(path)}.html`));
        if (!(await shell.exists())) {
          throw new ServiceError("not_found", "The dashboard is not built; npm start builds it.");
        }
        const html = (await shell.text())
          .replace("{{csrf-token}}", csrfToken)
          .replace("{{user-id}}", caller.userId);
        const headers = {
          "content-type": "text/html; charset=utf-8",
          "content-security-policy": appPolicy,
        };
        return new Response(html, { headers });
      }),
    ),
    openFile("/assets/:name", ({ request }) => sendAsset(directory, request)),
  ];
}

/** What the build knows a page's scripts by: the folder that its code is in. */
function sectionOf(path: string): string {
  const [, first] = path.split("/");
  return first === "log" ? "predictions" : first || "overview";
}

/** A file of the build, as the browser can read it. */
async function sendAsset(directory: string, { params, headers }: RoutedRequest): Promise<Response> {
  const name = params?.name ?? "";
  const contentType = contentTypes[name.split(".").at(-1) ?? ""];
  // The build's names have no slash and no second dot, so none leads out of the folder.
  if (contentType === undefined || !/^[\w-]+\.\w+$/.test(name)) throw noSuchFile();
  const cacheControl = hasDigest.test(name) ? "public, max-age=31536000, immutable" : "public, max-age=86400";
  const sent = { "content-type": contentType, "cache-control": cacheControl, vary: "accept-encoding" };
  const encoding = chooseEncoding(headers.get("accept-encoding"));
  const path = join(directory, "assets", name);
  const encoded = Bun.file(`${path}.${encoding?.extension ?? "gz"}`);
  if (await encoded.exists()) {
    if (encoding === undefined) return new Response(await unzip(await encoded.bytes()), { headers: sent });
    return new Response(encoded, { headers: { ...sent, "content-encoding": encoding.name } });
  }
  const file = Bun.file(path);
  if (!(await file.exists())) throw noSuchFile();
  return new Response(file, { headers: sent });
}

/** The smallest encoding that an `Accept-Encoding` header accepts (RFC 9110, 12.5.3), if any. */
export function chooseEncoding(accepted: string | null) {
  const negotiator = new Negotiator({ headers: { "accept-encoding": accepted ?? undefined } });
  const names = negotiator.encodings(encodings.map(({ name }) => name));
  return encodings.find(({ name }) => names.includes(name));
}

function noSuchFile(): ServiceError {
  return new ServiceError("not_found", "There is no such file.");
}
