import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync, brotliDecompressSync } from "node:zlib";
import type { Call, RoutedRequest } from "../http/call.ts";
import { errorResponse } from "../http/errors.ts";
import { chooseEncoding, dashboardRoutes } from "./dashboard.ts";

const directory = await mkdtemp(join(tmpdir(), "presage-dashboard-"));
const write = (name: string, text: string) => Bun.write(join(directory, name), text);
await write("secret.js", "outside");
await Bun.write(join(directory, "assets/main-0w9yr4c7.js.br"), brotliCompressSync("plain"));
await write("assets/inter.woff2", "font");
await write("assets/notes.txt", "no part of the dashboard");

const route = dashboardRoutes({ settings: { dashboardDirectory: directory } }).find(
  ({ path }) => path === "/assets/:name",
);
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  routes: {
    "/assets/:name": async (request: RoutedRequest) => {
      if (route?.access !== "open") throw new Error("The files are for anybody.");
      const call = { request } as Call;
      return await Promise.resolve(route.handle(call)).catch(
        (error: unknown) => new Response(null, { status: errorResponse(error, "").status }),
      );
    },
  },
  fetch: () => new Response(null, { status: 404 }),
});

afterAll(async () => {
  await server.stop(true);
  await rm(directory, { recursive: true });
});

const ask = (path: string, encoding = "identity") =>
  fetch(server.url.origin + path, { headers: { "accept-encoding": encoding }, decompress: false });

test("Files with a digest in their name are cached for a year, others for a day", async () => {
  const script = await ask("/assets/main-0w9yr4c7.js");
  expect([script.status, await script.text()]).toEqual([200, "plain"]);
  expect(script.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
  expect((await ask("/assets/inter.woff2")).headers.get("cache-control")).toBe("public, max-age=86400");
});

test("Each client gets the smallest encoding that it accepts, and caches learn that there are several", async () => {
  const [small, zipped, plain] = [
    await ask("/assets/main-0w9yr4c7.js", "gzip, br"),
    await ask("/assets/main-0w9yr4c7.js", "gzip"),
    await ask("/assets/main-0w9yr4c7.js"),
  ];
  const packed = brotliDecompressSync(await small.bytes()).toString();
  expect([small.headers.get("content-encoding"), packed]).toEqual(["br", "plain"]);
  expect([zipped.headers.get("content-encoding"), unzip(await zipped.bytes())]).toEqual(["gzip", "plain"]);
  expect([plain.headers.get("content-encoding"), await plain.text()]).toEqual([null, "plain"]);
  for (const { headers } of [small, zipped, plain]) expect(headers.get("vary")).toBe("accept-encoding");
});

const unzip = (bytes: Uint8Array) => new TextDecoder().decode(Bun.gunzipSync(new Uint8Array(bytes)));

test("No name leads out of the folder or to a file that is not part of the dashboard", async () => {
  for (const name of [
    "%2e%2e%2fsecret.js",
    "..%2fsecret.js",
    "%2e%2e%5csecret.js",
    "..%252fsecret.js",
    "%00.js",
    "main-0w9yr4c7.js%00.js",
    "main-0w9yr4c7.js.br",
    "notes.txt",
    "x.constructor",
    "none.js",
    "",
  ]) {
    const answer = await ask(`/assets/${name}`);
    expect([name, answer.status, await answer.text()]).toEqual([name, 404, ""]);
  }
});

test("Of several encodings the smaller one is chosen", () => {
  expect(chooseEncoding("gzip, deflate, br, zstd")).toBe("br");
  expect(chooseEncoding("gzip;q=1.0, BR;q=0.5")).toBe("br");
});

test("An encoding that is refused or not listed is not chosen", () => {
  expect(chooseEncoding("br;q=0, gzip")).toBe("gzip");
  expect(chooseEncoding("br; q=0.000")).toBeUndefined();
  expect(chooseEncoding("identity")).toBeUndefined();
  expect(chooseEncoding(null)).toBeUndefined();
});
