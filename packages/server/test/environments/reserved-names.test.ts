import { expect, test } from "bun:test";
import { join } from "node:path";
import { isReservedName } from "@presage/contract";
import { warnOfReservedNames } from "../../src/app/compose-environments.ts";
import type { Log } from "../../src/platform/observability/logger.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { openStore } from "../support/store/open-store.ts";

const presage = usePresage();
const router = join(import.meta.dir, "../../../web/src/router.tsx");
/** Names that an environment may have. */
const name = /^[a-z0-9][a-z0-9-]{0,62}$/;

const firstSegments = (paths: readonly string[]) =>
  [...new Set(paths.map((path) => path.split("/")[1] ?? ""))].filter((segment) => name.test(segment));

test("every first segment of a route is reserved", () => {
  const segments = firstSegments(presage.paths);
  expect(segments).toContain("v1");
  expect(segments.filter((segment) => !isReservedName(segment))).toEqual([]);
});

test("every first segment of a page's address is reserved", async () => {
  const paths = [...(await Bun.file(router).text()).matchAll(/path: "(\/[^"]*)"/g)].map(
    ([, path]) => path ?? "",
  );
  const segments = firstSegments(paths);
  expect(segments).toContain("runs");
  expect(segments.filter((segment) => !isReservedName(segment))).toEqual([]);
});

test("an environment cannot have a reserved name", async () => {
  for (const reserved of ["v1", "datasets", "ping", "health"]) {
    const response = await presage.call("POST", "/v1/environments", { name: reserved });
    const { detail } = (await response.json()) as { detail: string };
    expect([response.status, detail]).toEqual([
      400,
      expect.stringContaining(`The name ${reserved} is reserved`),
    ]);
  }
});

test("an environment that had a name before it was reserved stays, and the start says in one line what it lost", async () => {
  await using store = await openStore("sqlite::memory:");
  const of = { account_id: store.owner.account_id, created_by: store.owner.id, created_at: 1 };
  for (const name of ["share", "kitchen"]) {
    const row = { ...of, id: name, name, last_revision: 1, tasks: "{}" };
    await store.database.insertInto("environments").values(row).execute();
  }
  const lines: unknown[] = [];
  const logger = { warn: (about: object) => lines.push(about) } as unknown as Log["logger"];
  await warnOfReservedNames(store, { logger });
  expect(lines).toEqual([{ environments: ["share"] }]);
});

test("Presage's own routes come first, with or without a key", async () => {
  for (const headers of [{}, undefined]) {
    const status = async (method: string, path: string) =>
      (await presage.call(method, path, undefined, headers)).status;
    for (const segment of ["v1", "docs", "V1", "settings"]) {
      expect([segment, await status("GET", `/${segment}/tools`)]).toEqual([segment, 404]);
    }
    expect(await status("POST", "/v1/call")).toBe(404);
    // This is the page of a dataset, which has no POST.
    expect(await status("POST", "/datasets/call")).toBe(405);
  }
});
